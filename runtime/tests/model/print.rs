//! Prints a program in readable form.

use crate::program::{Access, Block, Fate, Program, Runner, Stmt, TaskIndex};
use std::fmt;

impl fmt::Display for Program {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, datum) in self.data.iter().enumerate() {
            writeln!(out, "datum {index}: {:?}{}", datum.ownership, if datum.renaming { ", renaming" } else { "" })?;
        }
        for (index, level) in self.levels.iter().enumerate() {
            let data: Vec<_> = level.data.iter().map(|datum| datum.0).collect();
            writeln!(out, "level {index}: data {data:?}")?;
            level.stmts.iter().try_for_each(|stmt| self.stmt(out, stmt, 1))?;
        }
        Ok(())
    }
}

impl Program {
    fn stmt(&self, out: &mut fmt::Formatter<'_>, stmt: &Stmt, depth: usize) -> fmt::Result {
        write!(out, "{:1$}", "", 4 * depth)?;
        match stmt {
            Stmt::Task(index) => self.task(out, *index),
            Stmt::Front(index) => {
                write!(out, "front ")?;
                self.task(out, *index)
            }
            Stmt::Scope(Block { probe, stmts }) => {
                writeln!(out, "scope (probe {})", probe.0)?;
                stmts.iter().try_for_each(|stmt| self.stmt(out, stmt, depth + 1))
            }
            Stmt::WaitFor(probe, accesses) => writeln!(out, "wait for {}(probe {})", list(accesses), probe.0),
            stmt => writeln!(out, "{stmt:?}"),
        }
    }

    fn task(&self, out: &mut fmt::Formatter<'_>, index: TaskIndex) -> fmt::Result {
        let task = &self.tasks[index.0];
        write!(out, "task {}: {}{:?}", index.0, list(&task.accesses), task.lock)?;
        if task.fate != Fate::Succeed {
            write!(out, " {:?}", task.fate)?;
        }
        if let Some(inner) = task.inner {
            write!(out, " runs level {inner}{}", if task.propagates { ", propagates" } else { "" })?;
        }
        if let Some(output) = task.output {
            write!(out, " makes {}", output.0)?;
        }
        if let Runner::Codelet { host, alpha, beta } = task.runner {
            write!(out, " codelet host {host} alpha {alpha} beta {beta}")?;
        }
        writeln!(out)
    }
}

fn list(accesses: &[Access]) -> String {
    accesses.iter().map(|access| format!("{:?} {}, ", access.mode, access.datum.0)).collect()
}
