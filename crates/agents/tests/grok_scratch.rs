mod home;
use home::{Home, settled};
use retro_agents::by_name;
#[test]
fn show() {
    let want = std::env::var("SHOW").unwrap();
    for dir in std::fs::read_dir("/tmp/corpus/genuine/grok").unwrap().map(|e| e.unwrap().path()) {
        let name = dir.file_name().unwrap().to_string_lossy().into_owned();
        if !want.split(',').any(|w| name.starts_with(w)) { continue }
        let home = Home::read(by_name("grok").unwrap(), &dir.join("home"));
        for (id, sources) in &home.sessions {
            let s = settled(by_name("grok").unwrap(), id, sources);
            println!("=== {name} {id} {:?}", s.facts);
            for e in &s.events {
                let text: String = e.text.as_ref().map(|t| t.chars().take(60).collect::<String>().replace('\n', "|")).unwrap_or_default();
                println!("{:3} t{} {:12} {:5} {:?}/{:?} {} tool={:?} res={:?} child={:?} parent={:?} resp={:?} model={:?} copy={} data={}", e.seq, e.turn, e.id.to_string(), e.live, e.kind, e.origin, text,
                    e.tool.as_ref().map(|t| (t.name.clone(), t.command.clone().map(|c| c.to_string()), t.paths.len(), t.edits.len())),
                    e.result.as_ref().map(|r| (r.outcome, r.exit_code, r.duration_ms, r.bytes, r.spilled_to.clone(), r.edits.len())), e.child, e.parent.as_ref().map(|p| p.to_string()), e.response.as_ref().map(|r| r.chars().rev().take(20).collect::<String>()), e.model, e.copy_of.is_some(),
                    e.data.as_ref().map(|d| d.to_string().chars().take(150).collect::<String>()).unwrap_or_default());
            }
        }
    }
}
