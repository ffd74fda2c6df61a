//! What a command line is for, through the shells and runners that people and agents wrap around
//! it. Each row was written down as a reader would call it, before the program was asked.

use retro_text::calls::{Purpose, understand};

const ROWS: &[(&str, Purpose)] = &[
    ("bash -lc 'cargo test -p shop'", Purpose::Test),
    ("bash -lc \"cd web && npm run lint\"", Purpose::Lint),
    ("sh -c 'make -C engine check'", Purpose::Test),
    ("zsh -lc 'pnpm exec tsc --noEmit'", Purpose::Typecheck),
    ("ssh build@host 'cd /srv/app && pytest -q'", Purpose::Test),
    ("ssh -p 2222 -i key.pem ci@host make -C /srv/app build", Purpose::Build),
    ("docker exec web npm test", Purpose::Test),
    ("docker exec -it -w /app api python -m pytest tests/unit", Purpose::Test),
    ("docker compose exec -T api ruff check .", Purpose::Lint),
    ("docker compose run --rm web yarn build", Purpose::Build),
    ("docker run --rm -v \"$PWD\":/w -w /w golang:1.23 go test ./...", Purpose::Test),
    ("podman exec box cargo clippy --all-targets", Purpose::Lint),
    ("kubectl exec deploy/api -- python -m pytest", Purpose::Test),
    ("make -C services/tax test", Purpose::Test),
    ("make -j8 -C firmware", Purpose::Build),
    ("npx jest --runInBand src/cart", Purpose::Test),
    ("npx --yes eslint . --max-warnings 0", Purpose::Lint),
    ("npx -y prettier --check src", Purpose::Lint),
    ("pnpm exec vitest run", Purpose::Test),
    ("pnpm --filter @shop/web test", Purpose::Test),
    ("yarn workspace web typecheck", Purpose::Typecheck),
    ("bunx biome check .", Purpose::Lint),
    ("uvx ruff check src", Purpose::Lint),
    ("uv run pytest -k cart", Purpose::Test),
    ("uv run --with pytest-cov python -m pytest", Purpose::Test),
    ("poetry run mypy shop", Purpose::Typecheck),
    ("pipx run black --check .", Purpose::Lint),
    ("just test", Purpose::Test),
    ("just --justfile ops/justfile lint", Purpose::Lint),
    ("mise run build", Purpose::Build),
    ("moon run web:lint", Purpose::Lint),
    ("nx run shop:test", Purpose::Test),
    ("npx nx affected --target=build", Purpose::Build),
    ("turbo run typecheck --filter=web", Purpose::Typecheck),
    ("./gradlew :app:testDebugUnitTest", Purpose::Test),
    ("gradle assemble", Purpose::Build),
    ("./mvnw -q -DskipTests package", Purpose::Build),
    ("bundle exec rspec spec/models", Purpose::Test),
    ("rake spec", Purpose::Test),
    ("timeout 60 cargo nextest run", Purpose::Test),
    ("time env RUST_LOG=debug cargo build", Purpose::Build),
    ("sudo -u app bash -c 'go vet ./...'", Purpose::Lint),
    ("nix develop -c cargo test", Purpose::Test),
    ("python3 -m unittest discover", Purpose::Test),
];

#[test]
fn a_command_is_what_it_runs_however_it_is_wrapped() {
    let wrong: Vec<String> = ROWS
        .iter()
        .filter_map(|(line, purpose)| {
            let found = understand(line).purpose();
            (found != *purpose).then(|| format!("{line}: {} and not {}", found.as_str(), purpose.as_str()))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}

/// What a line writes, and whether it commits.
const WRITES: &[(&str, &[&str], bool)] = &[
    ("python - <<'EOF'\nopen('out.txt', 'w').write('x')\nEOF", &["out.txt"], false),
    ("bash -lc \"cat > notes.md <<'END'\nhello\nEND\"", &["notes.md"], false),
    ("ssh host 'git commit -am \"Round once\"'", &[], true),
    ("docker exec web git -C /app commit -m x", &[], true),
    ("git -C sub commit --amend --no-edit", &[], true),
    ("printf '%s\\n' a | tee -a log.txt >/dev/null", &["log.txt"], false),
    ("cd web && sed -i 's/a/b/' src/tax.ts", &["web/src/tax.ts"], false),
    ("python3 -c \"open('data.json','w').write('{}')\"", &["data.json"], false),
];

#[test]
fn what_a_line_writes_and_commits_is_seen_through_its_wrapping() {
    let mut wrong = Vec::new();
    for (line, files, commits) in WRITES {
        let call = understand(line);
        let written: Vec<&str> = call.written.iter().map(|file| file.path.as_str()).collect();
        if written != *files || call.commits() != *commits {
            wrong.push(format!("{line}: {written:?}, commits {}", call.commits()));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), WRITES.len(), wrong.join("\n"));
}
