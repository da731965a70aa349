//! Tests that the programs of the README run, and that the README shows them.

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
fn readme_shows_the_programs() {
    let readme = include_str!("../README.md");
    for program in [include_str!("readme/first_program.rs"), include_str!("readme/composition.rs")] {
        assert!(readme.contains(program), "the README does not contain\n{program}");
    }
}
