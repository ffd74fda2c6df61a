//! What memory shows over made-up months in five repositories and six languages, by kind, when
//! somebody asks and when nobody does, and what each part of the ranking adds.

use retro::memory::{PARTS, WEIGHTS, Weights};
use retro_memory::testing::{Judged, STORIES, judge};

use crate::table::table;

/// Both tables.
pub(crate) fn measure() -> String {
    let mut whole = Judged::default();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (name, story) in STORIES {
        let judged = judge(story, &WEIGHTS);
        rows.push(row(name, &judged));
        whole.add(&judged);
    }
    rows.push(row("all", &whole));
    rows.push(
        ["bar", "", "75 %", "50 %", "50 %", "50 %", "2 %", "60 %", "40 %", "40 %", "40 %", "1 %"]
            .map(str::to_owned)
            .to_vec(),
    );
    let heads = [
        "story", "prompts", "asked", "errors", "rules", "commands", "wrong", "unasked", "errors", "rules",
        "commands", "wrong",
    ];
    format!(
        "What is shown of what is known, among the first three when somebody asks and unasked, and prompts that \
         get something wrong (when asked: something that is not marked as weak).\n\n{}\n\nThe same with one part \
         of the ranking left out.\n\n{}",
        table(&heads, &rows),
        ablation(&whole)
    )
}

fn row(name: &str, judged: &Judged) -> Vec<String> {
    let share = |value: f64| format!("{value:.1} %");
    let (asked_wrong, unasked_wrong) = judged.wrong();
    let mut row = vec![name.to_owned(), judged.prompts.to_string()];
    for (shares, wrong) in [(&judged.asked, asked_wrong), (&judged.unasked, unasked_wrong)] {
        row.push(share(Judged::right(shares)));
        row.extend(shares.iter().map(|one| share(Judged::right(std::slice::from_ref(one)))));
        row.push(share(wrong));
    }
    row
}

fn ablation(whole: &Judged) -> String {
    let told = |name: &str, judged: &Judged| {
        let (asked_wrong, unasked_wrong) = judged.wrong();
        let share = |value: f64| format!("{value:.1} %");
        vec![
            name.to_owned(),
            share(Judged::right(&judged.asked)),
            share(asked_wrong),
            share(Judged::right(&judged.unasked)),
            share(unasked_wrong),
        ]
    };
    let mut rows = vec![told("nothing: as it is", whole)];
    for (name, leave_out) in PARTS {
        let mut weights: Weights = WEIGHTS.clone();
        leave_out(&mut weights);
        let mut judged = Judged::default();
        for (_, story) in STORIES {
            judged.add(&judge(story, &weights));
        }
        rows.push(told(name, &judged));
    }
    table(&["left out", "asked", "wrong", "unasked", "wrong"], &rows)
}
