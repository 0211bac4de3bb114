//! The schema file for people: canonical TOML, with the reasons written beside what they are reasons for.

use super::Proposal;
use super::reads::Reads;
use std::fmt::Write as _;

/// A line of a comment is broken behind so many characters.
const LINE: usize = 110;

/// The schema of a proposal as commented TOML.
pub(super) fn commented(proposal: &Proposal, reads: &Reads, has_families: bool) -> String {
    let schema = &proposal.schema;
    let mut out = String::new();
    let cures: Vec<&str> = proposal.cures.iter().map(|cure| cure.text()).collect();
    comment(&mut out, &format!("Proposed by rowkey doctor: {}.", cures.join("; ")));
    comment(&mut out, &fit(proposal));
    let mut in_fields = false;
    for line in schema.to_toml().lines() {
        if line.starts_with('[') {
            in_fields = line == "[key.fields]";
        }
        match line {
            "[key]" => why(proposal, &mut out),
            "[key.salt]" => {
                for formula in proposal.choice.iter().flat_map(|choice| &choice.why) {
                    comment(&mut out, formula);
                }
            }
            "[families]" if !has_families => {
                comment(&mut out, "A placeholder: name your own families, and how long they keep what.");
            }
            "[[queries]]" if !out.contains(QUERIES) => comment(&mut out, &queries(reads)),
            _ => {}
        }
        out.push_str(line);
        let name = line.split(" = ").next().unwrap_or_default();
        let field = schema.field_index(name).filter(|_| in_fields);
        if let Some(text) = field.and_then(|at| proposal.comments.get(at)).filter(|text| !text.is_empty()) {
            let _ = write!(out, "  # {text}");
        }
        out.push('\n');
    }
    out
}

const QUERIES: &str = "What the table is for";

fn queries(reads: &Reads) -> String {
    let from = if reads.known {
        "as declared or observed"
    } else if reads.points_only {
        "rows are taken to be read by the complete key"
    } else {
        "assumed, since nothing is known: correct it and propose again"
    };
    format!("{QUERIES} ({from}). The key is judged by these.")
}

fn fit(proposal: &Proposal) -> String {
    let fit = &proposal.fit;
    let mut text = format!("{} of {} different keys of the sample fit.", fit.fitting, fit.keys);
    if fit.merged > 0 {
        let _ = write!(text, " {} of them become one with another, since they mean the same.", fit.merged);
    }
    text
}

fn why(proposal: &Proposal, out: &mut String) {
    for reason in &proposal.why {
        comment(out, reason);
    }
    for rest in &proposal.not_cured {
        comment(out, &format!("Not cured: {rest}"));
    }
}

/// Words in lines that begin with `#`.
fn comment(out: &mut String, text: &str) {
    let plain: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let mut line = String::from("#");
    for word in plain.split_whitespace() {
        if line.len() > 1 && line.chars().count() + word.chars().count() + 1 > LINE {
            out.push_str(&line);
            out.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
}
