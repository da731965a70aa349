//! Wrong arguments of the batched routines are reported, and then nothing is computed.

use crate::{
    forms::{Call, Form, Role, Table},
    problem::{Case, Problem},
    shared::library,
};
use libloading::Library;

/// The changes of an argument that make it wrong. `position` counts the elements of a table.
fn wrong_values(role: Role, has_table: bool) -> &'static [(Option<usize>, isize)] {
    match (role, has_table) {
        (Role::Option, _) => &[(None, b'?' as isize), (None, 0)],
        (Role::Size, true) => &[(None, 0), (Some(3), -1), (Some(0), -1)],
        (Role::Size | Role::Count, false) => &[(None, -1)],
        (Role::Address, true) => &[(None, 0), (Some(1), 0)],
        (Role::Address | Role::Info, false) => &[(None, 0)],
        (Role::Spacing, true) => &[(None, 0), (Some(2), 0), (Some(3), -1)],
        (Role::Spacing, false) => &[(None, 0), (None, -1)],
        (Role::Stride { is_written: false }, _) => &[(None, -1)],
        (Role::Stride { is_written: true }, _) => &[(None, -1), (None, 0), (None, 1)],
        (Role::Factor | Role::FactorAddress | Role::Info | Role::Count, _) => &[],
    }
}

fn refuse(library: &Library, case: &Case, form: Form) {
    let problems: Vec<_> = (0..5).map(|p| Problem::new(library, case, [6, 4, 3], p, 1)).collect();
    let roles: Vec<_> = Call::new(library, case, form, problems.clone(), 0)
        .arguments
        .iter()
        .map(|argument| (argument.role, argument.table.is_some()))
        .collect();
    for (at, (role, has_table)) in roles.into_iter().enumerate() {
        for &(position, value) in wrong_values(role, has_table) {
            let mut call = Call::new(library, case, form, problems.clone(), 0);
            let argument = &mut call.arguments[at];
            match (position, &mut argument.table) {
                (Some(p), Some(Table::Numbers(table))) => table.set(p, value as f64),
                (Some(p), Some(Table::Addresses(table))) => table[p] = value as usize,
                _ => argument.value = value as usize,
            }
            let what = format!(
                "{:?} {} {form:?}: {value} in {position:?} of argument {}",
                case.interface,
                case.name(),
                at + 1
            );
            assert_eq!(call.run(), -(at as i32 + 1), "{what}");
            let pairs = problems.iter().zip(&call.problems).flat_map(|(x, y)| x.operands.iter().zip(&y.operands));
            assert!(pairs.into_iter().all(|(x, y)| x.values.is_same(&y.values)), "{what}: an operand was changed");
            assert!((0..5).all(|p| call.info.get(p) == crate::problem::UNSET), "{what}: info was changed");
        }
    }
}

#[test]
fn wrong_arguments_are_reported() {
    let library = library();
    for case in Case::all(|_| true) {
        Form::ALL.into_iter().for_each(|form| refuse(&library, &case, form));
    }
}

#[test]
fn unsupported_options_are_reported() {
    let library = library();
    for case in Case::all(|it| ["gels", "ormqr"].contains(&it.names[0])) {
        let problems: Vec<_> = (0..5).map(|p| Problem::new(&library, &case, [6, 4, 3], p, 1)).collect();
        let mut call = Call::new(&library, &case, Form::Batched, problems, 0);
        call.arguments[0].value = if case.name() == "gels" { b'T' } else { b'R' }.into();
        assert_eq!(call.run(), -1, "{}", case.name());
    }
}

/// Interchanges that name no row.
#[test]
fn wrong_interchanges_are_reported() {
    let library = library();
    for (case, form) in
        Case::all(|it| it.names[0] == "getrs").iter().flat_map(|case| Form::ALL.map(|form| (case, form)))
    {
        for wrong in [0.0, -1.0, 7.0, 1e9] {
            let mut problems: Vec<_> = (0..5).map(|p| Problem::new(&library, case, [6, 4, 3], p, 1)).collect();
            problems[3].operands[1].values.set(2, wrong);
            let mut call = Call::new(&library, case, form, problems, 0);
            let strides = i32::from(form == Form::StridedBatched);
            assert_eq!(call.run(), -(6 + strides), "{wrong} {form:?}");
        }
    }
}

/// Without problems, or without elements, nothing is read, so addresses may be null.
#[test]
fn empty_batches_have_no_addresses() {
    let library = library();
    for (case, form) in Case::all(|_| true).iter().flat_map(|case| Form::ALL.map(|form| (case, form))) {
        let problems: Vec<_> = (0..5).map(|p| Problem::new(&library, case, [0; 3], p, 0)).collect();
        let what = format!("{:?} {} {form:?}", case.interface, case.name());
        let mut call = Call::new(&library, case, form, problems, 0);
        call.arguments.iter_mut().filter(|it| it.role == Role::Address).for_each(|it| it.value = 0);
        assert_eq!(call.run(), 0, "{what}, of order 0");
        assert!(!case.routine.has_info || (0..5).all(|p| call.info.get(p) == 0.0), "{what}: info");
        let problems = vec![Problem::new(&library, case, [6, 4, 3], 0, 0)];
        let mut call = Call::new(&library, case, form, problems, 0);
        let is_address = |role| matches!(role, Role::Address | Role::Info);
        for argument in call.arguments.iter_mut().filter(|it| is_address(it.role) || it.table.is_some()) {
            argument.value = 0;
        }
        call.arguments.last_mut().expect("the number of problems").value = 0;
        assert_eq!(call.run(), 0, "{what}, no problems");
    }
}
