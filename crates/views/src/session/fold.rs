//! Folds consecutive successful calls into one line with counts.
//!
//! A fold never contains a call that failed, was denied or was cut off, nor one that changed a file
//! or started a sub-agent.

use retro_model::{Outcome, ToolClass};

use super::item::{Call, Item};

/// Minimum calls in a fold.
const LEAST: usize = 2;

/// Folds the items of a turn.
pub fn fold(items: Vec<Item>) -> Vec<Item> {
    let mut folded = Vec::with_capacity(items.len());
    let mut run: Vec<Item> = Vec::new();
    for item in items {
        let joins = match &item {
            Item::Call(call) => kind(call).is_some_and(|kind| run_kind(&run).is_none_or(|of| of == kind)),
            // A thought between two calls does not end a run.
            Item::Thought { .. } => !run.is_empty(),
            _ => false,
        };
        if joins {
            run.push(item);
            continue;
        }
        close(&mut run, &mut folded);
        match &item {
            Item::Call(call) if kind(call).is_some() => run.push(item),
            _ => folded.push(item),
        }
    }
    close(&mut run, &mut folded);
    folded
}

/// Kinds of calls that fold together: looking around, or commands.
#[derive(PartialEq, Clone, Copy)]
enum Together {
    Looks,
    Commands,
}

fn kind(call: &Call) -> Option<Together> {
    let is_well = call.outcome == Some(Outcome::Ok) && call.edits.is_empty() && call.diffs.is_empty();
    if !is_well || call.child.is_some() || !call.live {
        return None;
    }
    match call.class {
        ToolClass::Read | ToolClass::Search | ToolClass::Web | ToolClass::Plan => Some(Together::Looks),
        ToolClass::Shell => Some(Together::Commands),
        _ => None,
    }
}

fn run_kind(run: &[Item]) -> Option<Together> {
    run.iter().find_map(|item| match item {
        Item::Call(call) => kind(call),
        _ => None,
    })
}

fn close(run: &mut Vec<Item>, folded: &mut Vec<Item>) {
    // Thoughts at the end belong to the next items.
    let calls = run.iter().rposition(|item| matches!(item, Item::Call(_))).map_or(0, |at| at + 1);
    let after = run.split_off(calls);
    let items = std::mem::take(run);
    let of = |item: &Item| match item {
        Item::Call(call) => Some((call.class, call.ms)),
        _ => None,
    };
    let made: Vec<_> = items.iter().filter_map(of).collect();
    if made.len() < LEAST {
        folded.extend(items);
    } else {
        let known: Vec<u64> = made.iter().filter_map(|(_, ms)| *ms).collect();
        let ms = (!known.is_empty()).then(|| known.iter().sum());
        let classes: Vec<ToolClass> = made.iter().map(|(class, _)| *class).collect();
        folded.push(Item::Run { label: label(&classes), ms, items });
    }
    folded.extend(after);
}

/// `12 reads, 3 searches`.
fn label(classes: &[ToolClass]) -> String {
    let names = [
        (ToolClass::Read, "read", "reads"),
        (ToolClass::Search, "search", "searches"),
        (ToolClass::Web, "web request", "web requests"),
        (ToolClass::Plan, "plan update", "plan updates"),
        (ToolClass::Shell, "command", "commands"),
    ];
    let parts = names.iter().filter_map(|(class, one, many)| {
        let count = classes.iter().filter(|other| *other == class).count();
        (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn call(class: ToolClass, outcome: Outcome) -> Item {
        Item::Call(Box::new(Call {
            pictures: Vec::new(),
            id: "m:1".into(),
            result: None,
            ts: None,
            name: "x".into(),
            class,
            what: String::new(),
            full: None,
            outcome: Some(outcome),
            exit_code: None,
            ms: Some(10),
            ms_at_most: false,
            tokens: None,
            edits: Vec::new(),
            trouble: None,
            output: None,
            diffs: Vec::new(),
            child: None,
            live: true,
        }))
    }

    fn shape(items: Vec<Item>) -> Vec<String> {
        let name = |item: Item| match item {
            Item::Run { label, .. } => label,
            Item::Call(call) => format!("{:?} {:?}", call.class, call.outcome.unwrap()),
            Item::Thought { .. } => "thought".to_owned(),
            _ => "other".to_owned(),
        };
        fold(items).into_iter().map(name).collect()
    }

    #[test]
    fn what_went_well_is_one_line_and_a_failure_never_hides() {
        use Outcome::{Failed, Ok};
        use ToolClass::{Edit, Read, Search, Shell};
        let thought = || Item::Thought { id: String::new(), text: String::new(), chars: 0 };
        let items = vec![
            call(Read, Ok),
            thought(),
            call(Search, Ok),
            call(Read, Ok),
            call(Shell, Failed),
            call(Shell, Ok),
            call(Shell, Ok),
            thought(),
            call(Edit, Ok),
            call(Read, Ok),
        ];
        assert_eq!(
            shape(items),
            ["2 reads, 1 search", "Shell Failed", "2 commands", "thought", "Edit Ok", "Read Ok"]
        );
    }
}
