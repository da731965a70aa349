//! The modules of a crate and the paths in their code, read as text: what `folders.rs` makes its graphs of.
//!
//! Modules are found as rustc finds them: by `mod name;`, from the root on. Comments, strings and code for tests are
//! left out. A name is followed through imports and re-exports. What is not seen: which type a method belongs to, and
//! the code that macros make.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Source, comparisons::code_only};

/// The names of a path: from the root of the crate, that of a module.
pub type Names = Vec<String>;

/// Words before the name of an item.
const ITEMS: [&str; 9] = ["const", "enum", "fn", "static", "struct", "trait", "type", "union", "macro_rules"];
/// Items that end at a semicolon, whatever braces are in them.
const STATEMENTS: [&str; 5] = ["const", "let", "static", "type", "use"];
/// Items that end at a semicolon or behind their braces, whatever commas are in them.
const BLOCKS: [&str; 9] = ["enum", "extern", "fn", "impl", "macro_rules", "mod", "struct", "trait", "unsafe"];
/// More imports than a name goes through. An import that leads to itself ends here.
const REEXPORTS_MAX: usize = 16;

struct Token<'a> {
    text: &'a str,
    line: usize,
}

#[derive(Default)]
struct Module {
    file: String,
    items: BTreeSet<String>,
    imports: Vec<Import>,
}

struct Import {
    /// The name that is brought in, `*` for all of a module.
    name: String,
    /// As it was written.
    path: Names,
    is_reexport: bool,
}

/// A path in the code of a module, as it was written.
pub struct Mention {
    pub module: Names,
    pub path: Names,
    /// The file with its line.
    pub place: String,
}

pub struct Crate {
    modules: BTreeMap<Names, Module>,
    pub mentions: Vec<Mention>,
}

/// One file, while it is read.
struct Reader<'a> {
    tokens: &'a [Token<'a>],
    source: &'a Source,
    module: Names,
    /// For each open brace, whether it is that of a module.
    braces: Vec<bool>,
    /// The modules that are in files of their own.
    files: Vec<Names>,
    /// Whether the names of the import that is being read are seen outside.
    is_reexport: bool,
}

impl Crate {
    /// Reads the modules of the crate with that root, `src/lib.rs` or `src/main.rs` of its folder.
    pub fn read(root: &str, sources: &[Source]) -> Self {
        let folder = root.rsplit_once('/').expect("a root is in a folder").0;
        let mut read = Self { modules: BTreeMap::new(), mentions: Vec::new() };
        let mut left = vec![Names::new()];
        while let Some(module) = left.pop() {
            let stem = [&[folder.to_owned()], module.as_slice()].concat().join("/");
            let files =
                if module.is_empty() { vec![root.to_owned()] } else { vec![stem.clone() + ".rs", stem + "/mod.rs"] };
            let source = sources.iter().find(|source| files.contains(&source.path));
            let source = source.unwrap_or_else(|| panic!("there is no file of {}", files.join(", ")));
            let code = code_only(&source.text);
            let tokens = tokens(&code);
            let mut reader =
                Reader { tokens: &tokens, source, module, braces: Vec::new(), files: Vec::new(), is_reexport: false };
            reader.read(&mut read);
            left.append(&mut reader.files);
        }
        read
    }

    /// The modules that consist of several files, of those directly in the one named.
    pub fn folders(&self, module: &[String]) -> BTreeSet<String> {
        let is_file = |names: &Names| names.len() > module.len() + 1 && self.is_in_own_file(names);
        let inner = self.modules.keys().filter(|names| names.starts_with(module) && is_file(names));
        inner.map(|names| names[module.len()].clone()).collect()
    }

    fn is_in_own_file(&self, module: &Names) -> bool {
        let outer = self.modules.get(&module[..module.len() - 1]);
        outer.is_some_and(|outer| outer.file != self.modules[module].file)
    }

    /// The module directly in the one named that a path from the crate's root leads to, if any. Names that the modules
    /// above re-export are followed.
    pub fn child(&self, outer: &[String], path: &[String]) -> Option<String> {
        self.child_by(outer, path, 0)
    }

    fn child_by(&self, outer: &[String], path: &[String], reexports: usize) -> Option<String> {
        let is_outer = |module: &Names| self.modules[module].file == self.modules[outer].file;
        let mut at = Names::new();
        for (index, name) in path.iter().enumerate() {
            let next = [at.as_slice(), std::slice::from_ref(name)].concat();
            if !self.modules.contains_key(&next) {
                let target = self.import(&at, name).filter(|_| reexports < REEXPORTS_MAX)?;
                let target = self.absolute(&at, &target)?;
                return self.child_by(outer, &[&target, &path[index + 1..]].concat(), reexports + 1);
            } else if !outer.starts_with(&next) && !is_outer(&next) {
                return is_outer(&at).then(|| name.clone());
            }
            at = next;
        }
        None
    }

    /// The places of paths that are not followed here: names that the root does not have, and all names of a module
    /// above.
    pub fn unknown(&self) -> Vec<&str> {
        let root = &self.modules[&Names::new()];
        let has_others =
            root.imports.iter().any(|import| import.name == "*" && self.absolute(&[], &import.path).is_none());
        let is_known = |name: &String| {
            let is_own = self.modules.contains_key(std::slice::from_ref(name)) || root.items.contains(name);
            is_own || has_others || self.import(&[], name).is_some()
        };
        let is_above = |module: &Names, other: &[String]| {
            module.starts_with(other) && self.modules[module].file != self.modules[other].file
        };
        let is_unknown = |mention: &&Mention| {
            self.absolute(&mention.module, &mention.path).is_some_and(|path| match path.split_last() {
                Some((last, other)) if last == "*" => is_above(&mention.module, other),
                _ => path.first().is_some_and(|name| !is_known(name)),
            })
        };
        self.mentions.iter().filter(is_unknown).map(|mention| mention.place.as_str()).collect()
    }

    /// What the module imports under that name: by the name itself, or with all of the only module that has it.
    fn import(&self, module: &[String], name: &String) -> Option<Names> {
        let imports = &self.modules[module].imports;
        let named = imports.iter().find(|import| import.name == *name).map(|import| import.path.clone());
        let through = |path: &Names| {
            let other = self.modules.get(&self.absolute(module, path)?)?;
            let has_name = other.items.contains(name)
                || other.imports.iter().any(|import| import.is_reexport && import.name == *name);
            has_name.then(|| [path.as_slice(), std::slice::from_ref(name)].concat())
        };
        let mut all = imports.iter().filter(|import| import.name == "*").filter_map(|import| through(&import.path));
        named.or_else(|| all.next().filter(|_| all.next().is_none()))
    }

    /// The path from the root of the crate, unless it leads to another crate or to an item of the module itself.
    pub fn absolute(&self, module: &[String], path: &[String]) -> Option<Names> {
        self.absolute_by(module, path, 0)
    }

    fn absolute_by(&self, module: &[String], path: &[String], imports: usize) -> Option<Names> {
        let (head, rest) = path.split_first()?;
        let child = [module, std::slice::from_ref(head)].concat();
        match head.as_str() {
            "crate" => Some(rest.to_vec()),
            "self" => Some([module, rest].concat()),
            "super" => {
                let above = module.split_last()?.1;
                let goes_on = rest.first().is_some_and(|next| next == "super");
                if goes_on { self.absolute_by(above, rest, imports) } else { Some([above, rest].concat()) }
            }
            _ if self.modules.contains_key(&child) => Some([&child, rest].concat()),
            _ => {
                let named = self.modules[module].imports.iter().find(|import| import.name == *head);
                let target = &named.filter(|_| imports < REEXPORTS_MAX)?.path;
                self.absolute_by(module, &[target, rest].concat(), imports + 1)
            }
        }
    }
}

impl Reader<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    fn read(&mut self, read: &mut Crate) {
        self.enter(read);
        let mut at = 0;
        while at < self.tokens.len() {
            at = self.step(at, read);
        }
    }

    fn enter(&self, read: &mut Crate) {
        let module = Module { file: self.source.path.clone(), ..Module::default() };
        read.modules.insert(self.module.clone(), module);
    }

    /// A brace is closed.
    fn leave(&mut self) {
        if self.braces.pop() == Some(true) {
            self.module.pop();
        }
    }

    /// Reads what begins at that token, and returns where the next begins.
    fn step(&mut self, at: usize, read: &mut Crate) -> usize {
        let (name, after) = (self.text(at + 1).to_owned(), self.text(at + 2));
        let is_path = is_name(self.text(at)) && self.text(at + 1) == "::";
        let is_head = at == 0 || !["::", "."].contains(&self.text(at - 1));
        match self.text(at) {
            "#" if self.is_for_tests(at) => return self.item_end(at),
            "{" => self.braces.push(false),
            "}" => self.leave(),
            "mod" if after == ";" => self.files.push([self.module.as_slice(), &[name]].concat()),
            "mod" if after == "{" => {
                self.braces.push(true);
                self.module.push(name);
                self.enter(read);
                return at + 3;
            }
            "use" if name != "<" => {
                self.is_reexport = at > 0 && ["pub", ")"].contains(&self.text(at - 1));
                return self.imports(at + 1, &Names::new(), read) + 1;
            }
            word if ITEMS.contains(&word) => {
                let name = if name == "!" { after.to_owned() } else { name };
                read.modules.get_mut(&self.module).expect("it was entered").items.insert(name);
            }
            _ if is_path && is_head => return self.path(at, read),
            _ => {}
        }
        at + 1
    }

    /// Reads a path outside of an import.
    fn path(&self, mut at: usize, read: &mut Crate) -> usize {
        let place = self.source.place(self.tokens[at].line);
        let mut path = vec![self.text(at).to_owned()];
        while self.text(at + 1) == "::" && is_name(self.text(at + 2)) {
            at += 2;
            path.push(self.text(at).to_owned());
        }
        read.mentions.push(Mention { module: self.module.clone(), path, place });
        at + 1
    }

    /// Reads what is imported from below a path, and returns where the comma, the brace or the semicolon behind it
    /// stands.
    fn imports(&self, mut at: usize, above: &Names, read: &mut Crate) -> usize {
        let mut path = above.clone();
        let line = self.tokens[at].line;
        loop {
            match self.text(at) {
                // A path that begins with colons is one of another crate.
                "::" if path.is_empty() => path.push("::".to_owned()),
                "::" | "$" => {}
                "{" => {
                    at += 1;
                    while self.text(at) != "}" {
                        at = self.imports(at, &path, read);
                        at += usize::from(self.text(at) == ",");
                    }
                    return at + 1;
                }
                "as" | "," | "}" | ";" | "*" | "" => break,
                name => path.push(name.to_owned()),
            }
            at += 1;
        }
        if path.len() > 1 && path.last().is_some_and(|name| name == "self") {
            path.pop();
        }
        let name = match self.text(at) {
            "as" => self.text(at + 1),
            "*" => "*",
            _ => path.last().map_or("", String::as_str),
        };
        if self.braces.iter().all(|&is_module| is_module) {
            let module = read.modules.get_mut(&self.module).expect("it was entered");
            module.imports.push(Import { name: name.to_owned(), path: path.clone(), is_reexport: self.is_reexport });
        }
        path.extend((self.text(at) == "*").then(|| "*".to_owned()));
        read.mentions.push(Mention { module: self.module.clone(), path, place: self.source.place(line) });
        match self.text(at) {
            "as" => at + 2,
            "*" => at + 1,
            _ => at,
        }
    }

    /// Whether an attribute stands here that keeps what follows for tests: `cfg(test)`, or `cfg(all(…))` with `test` in
    /// it.
    fn is_for_tests(&self, at: usize) -> bool {
        let word = |after: usize, word: &str| self.text(at + after) == word;
        let end = (at..self.tokens.len()).find(|&end| self.text(end) == "]").unwrap_or(at);
        let is_cfg = word(1, "[") && word(2, "cfg") && word(3, "(");
        let all = || (at + 6..end).any(|inner| self.text(inner) == "test" && self.text(inner - 1) != "(");
        is_cfg && (word(4, "test") || (word(4, "all") && (word(6, "test") || all())))
    }

    /// Where what follows the attributes at this place ends.
    fn item_end(&self, mut at: usize) -> usize {
        while self.text(at) == "#" {
            at = self.group_end(at + 1);
        }
        if self.text(at) == "pub" {
            at += 1;
            at = if self.text(at) == "(" { self.group_end(at) } else { at };
        }
        let is_block = (at..at + 3).any(|word| BLOCKS.contains(&self.text(word)));
        let is_statement = STATEMENTS.contains(&self.text(at)) && !(is_block && self.text(at) == "const");
        loop {
            match self.text(at) {
                ";" => return at + 1,
                "," if !is_block && !is_statement => return at + 1,
                "}" | "" => return at,
                "{" if !is_statement => return self.group_end(at),
                "(" | "[" | "{" => at = self.group_end(at),
                _ => at += 1,
            }
        }
    }

    /// Behind what closes the bracket that stands here.
    fn group_end(&self, mut at: usize) -> usize {
        let mut depth = 0;
        loop {
            match self.text(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 || at >= self.tokens.len() {
                return at;
            }
        }
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, pairs of colons and single signs, with their lines.
fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (line, mut rest) in code.lines().enumerate().map(|(at, line)| (at + 1, line.trim_start())) {
        while let Some(first) = rest.chars().next() {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let length = match first {
                _ if is_part(first) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
                _ if rest.starts_with("::") => 2,
                _ => first.len_utf8(),
            };
            tokens.push(Token { text: &rest[..length], line });
            rest = rest[length..].trim_start();
        }
    }
    tokens
}
