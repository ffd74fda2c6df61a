//! The stages that turn captured bytes into results, one file each.
//!
//! A stage declares when it runs, its inputs and its work. Its *stamp* covers its version and
//! exactly these inputs; [`crate::stamp`] makes and compares stamps, and `derive` runs the due
//! stages. A new parser, a changed stage, a changed setting and a grown log are therefore the same
//! case: the stamp differs.
//!
//! To add a stage, write its file and add its line to [`STAGES`].

mod calls;
pub(crate) mod detect;
pub mod digest;
pub(crate) mod facts;
pub mod ledger;
pub mod memory;
pub mod mine;
pub(crate) mod normalized;
mod patterns;
mod repack;
pub mod text;
pub(crate) mod turns;
pub mod vectors;

pub use crate::stage::*;

const DISCOVER: Stage = Stage {
    name: "discover",
    version: 1,
    when: When::Append,
    help: "find the files of every session",
    inputs: &[],
    work: Work::Sync,
    ..Stage::PLAIN
};

const CAPTURE: Stage = Stage {
    name: "capture",
    version: 1,
    when: When::Append,
    help: "keep their new bytes, and read them",
    inputs: &[],
    work: Work::Sync,
    ..Stage::PLAIN
};

/// Every stage, in the order in which they run. Those that read events are adjacent.
pub static STAGES: &[Stage] = &[
    DISCOVER,
    CAPTURE,
    ledger::STAGE,
    turns::STAGE,
    calls::STAGE,
    normalized::STAGE,
    digest::STAGE,
    mine::STAGE,
    detect::STAGE,
    facts::STAGE,
    memory::STAGE,
    patterns::STAGE,
    text::STAGE,
    vectors::STAGE,
    repack::STAGE,
];

/// The stage with this name.
pub fn by_name(name: &str) -> Option<&'static Stage> {
    STAGES.iter().find(|stage| stage.name == name)
}

/// The stages up to and including `until`, or all of them.
pub fn up_to(stages: &'static [Stage], until: Option<&str>) -> &'static [Stage] {
    let end = until.and_then(|name| stages.iter().position(|stage| stage.name == name));
    end.and_then(|end| stages.get(..=end)).unwrap_or(stages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn until_is_inclusive() {
        let names = |until| up_to(STAGES, until).iter().map(|stage| stage.name).collect::<Vec<_>>();
        assert_eq!(names(Some("capture")), ["discover", "capture"]);
        assert_eq!(names(None).last(), Some(&"repack"));
    }

    #[test]
    fn stages_that_see_events_share_one_reading_and_read_only_what_is_made_before() {
        let sees_events = |stage: &&Stage| matches!(stage.work, Work::Events(_));
        let first = STAGES.iter().position(|stage| sees_events(&stage)).unwrap();
        let of_events: Vec<_> = STAGES[first..].iter().take_while(sees_events).map(|s| s.name).collect();
        assert_eq!(STAGES.iter().filter(sees_events).count(), of_events.len(), "they are neighbours");
        for (at, stage) in STAGES.iter().enumerate() {
            for input in stage.inputs {
                let Input::Made(other) = input else { continue };
                let place = STAGES.iter().position(|stage| stage.name == *other).unwrap();
                assert!(
                    place < at && !(sees_events(&stage) && place >= first),
                    "{} reads {other}",
                    stage.name
                );
            }
        }
    }
}
