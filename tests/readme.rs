//! The programs of the README run, and the README shows what runs.

mod first_program {
    include!("readme/first_program.rs");

    #[test]
    fn runs() -> Result<(), superscalar::Error> {
        main()
    }
}

mod composition {
    include!("readme/composition.rs");

    #[test]
    fn runs() -> Result<(), Box<dyn std::error::Error>> {
        main()
    }
}

#[test]
fn the_readme_shows_them() {
    let readme = include_str!("../README.md");
    for program in [include_str!("readme/first_program.rs"), include_str!("readme/composition.rs")] {
        assert!(readme.contains(program), "the README shows something else than\n{program}");
    }
}
