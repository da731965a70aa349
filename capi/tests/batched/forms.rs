//! Calls of a batched routine in each of its forms.

use crate::{
    problem::{Case, Operand, PADDING, Problem, UNSET, call, factor_address},
    routine::Spacing,
    values::Values,
};
use libloading::Library;

/// How a routine takes the problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Batched,
    Vbatched,
    StridedBatched,
}

impl Form {
    pub const ALL: [Self; 3] = [Self::Batched, Self::Vbatched, Self::StridedBatched];

    fn suffix(self) -> &'static str {
        match self {
            Self::Batched => "batched",
            Self::Vbatched => "vbatched",
            Self::StridedBatched => "strided_batched",
        }
    }
}

/// What an argument means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Option,
    Size,
    /// A factor that is passed in a vector register.
    Factor,
    /// A factor's address.
    FactorAddress,
    Address,
    /// A leading dimension or an increment.
    Spacing,
    Stride {
        is_written: bool,
    },
    Info,
    Count,
}

/// An argument: a number, or the address of a table.
pub struct Argument {
    pub role: Role,
    pub value: usize,
    /// The table, if there is one.
    pub table: Option<Table>,
}

/// A table for the problems.
pub enum Table {
    Numbers(Values),
    Addresses(Vec<usize>),
}

/// A call of a batched routine.
pub struct Call<'a> {
    library: &'a Library,
    case: &'a Case,
    form: Form,
    pub problems: Vec<Problem>,
    pub arguments: Vec<Argument>,
    pub info: Values,
    /// The operands of the strided form, and their strides.
    packed: Vec<(Values, usize)>,
}

impl<'a> Call<'a> {
    /// Prepares a call. Strided matrices are `gap` elements apart.
    pub fn new(library: &'a Library, case: &'a Case, form: Form, problems: Vec<Problem>, gap: usize) -> Self {
        let info = Values::integers(case.interface.is_wide, problems.len(), UNSET as i64);
        let mut call = Self { library, case, form, problems, arguments: Vec::new(), info, packed: Vec::new() };
        case.options.bytes().for_each(|letter| call.push(Role::Option, letter.into()));
        (0..case.routine.sizes).for_each(|which| call.push_sizes(Role::Size, |problem| problem.sizes[which]));
        for at in 0..case.routine.operands.len() {
            if let Some(factor) = case.routine.factors.iter().position(|&before| before == at) {
                match case.interface.of.is_complex() {
                    true => call.push(Role::FactorAddress, factor_address(case.interface.of, factor)),
                    false => call.push(Role::Factor, 0),
                }
            }
            call.push_operand(at, gap);
        }
        if case.routine.has_info {
            let address = call.info.address();
            call.push(Role::Info, address);
        }
        call.push(Role::Count, call.problems.len());
        call
    }

    fn push(&mut self, role: Role, value: usize) {
        self.arguments.push(Argument { role, value, table: None });
    }

    fn push_sizes(&mut self, role: Role, size: impl Fn(&Problem) -> usize) {
        if self.form != Form::Vbatched {
            return self.push(role, size(&self.problems[0]));
        }
        let mut table = Values::integers(self.case.interface.is_wide, self.problems.len(), 0);
        self.problems.iter().enumerate().for_each(|(p, problem)| table.set(p, size(problem) as f64));
        self.arguments.push(Argument { role, value: table.address(), table: Some(Table::Numbers(table)) });
    }

    fn push_operand(&mut self, at: usize, gap: usize) {
        let first = &self.problems[0].operands[at];
        let (spacing, parts) = (first.spacing, first.parts);
        let stride =
            self.problems.iter().map(|problem| problem.operands[at].values.len() / parts).max().unwrap_or(0) + gap;
        if self.form == Form::StridedBatched {
            let mut packed = first.values.with_len(stride * parts * self.problems.len(), PADDING);
            for (p, Problem { operands, .. }) in self.problems.iter().enumerate() {
                let values = &operands[at].values;
                (0..values.len()).for_each(|i| packed.set(p * stride * parts + i, values.get(i)));
            }
            self.push(Role::Address, packed.address());
            self.packed.push((packed, stride * parts));
        } else {
            let addresses: Vec<_> =
                self.problems.iter_mut().map(|problem| problem.operands[at].values.address()).collect();
            let value = addresses.as_ptr() as usize;
            self.arguments.push(Argument { role: Role::Address, value, table: Some(Table::Addresses(addresses)) });
        }
        if spacing != Spacing::Adjacent {
            self.push_sizes(Role::Spacing, |problem| problem.operands[at].ld);
        }
        if self.form == Form::StridedBatched {
            self.push(Role::Stride { is_written: self.case.routine.operands[at].is_written }, stride);
        }
    }

    /// Calls the function, and returns its result.
    pub fn run(&mut self) -> i32 {
        let Self { case, form, .. } = self;
        let (of, name) = (case.interface.of, case.name());
        let suffix = if case.interface.is_wide { "_64" } else { "" };
        let name = format!("superscalar_{}{name}_{}{suffix}", of.0, form.suffix());
        let passed = self.arguments.iter().filter(|argument| argument.role != Role::Factor);
        let passed: Vec<_> = passed.map(|argument| argument.value).collect();
        let result = call(self.library, &name, &passed, of) as i32;
        for (at, (packed, stride)) in self.packed.iter().enumerate() {
            for (p, problem) in self.problems.iter_mut().enumerate() {
                let Operand { values, .. } = &mut problem.operands[at];
                (0..values.len()).for_each(|i| values.set(i, packed.get(p * stride + i)));
                let gap = p * stride + values.len()..(p + 1) * stride;
                assert!(gap.into_iter().all(|i| packed.get(i) == PADDING), "{name}: between the matrices");
            }
        }
        result
    }
}
