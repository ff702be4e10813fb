//! The course that every peer runs (course.py), for the crate a-tree: file answers subscriptions budget.

use a_tree::{ATree, AttributeDefinition};
use std::error::Error;
use std::fs;
use std::time::Instant;

const BUILD_BUDGETS: f64 = 4.0;

/// What stands in a common file; common_file.py describes the format.
struct Content {
    attributes: usize,
    subscriptions: Vec<String>,
    events: Vec<Vec<i64>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, answers, most, budget] = arguments.as_slice() else {
        return Err("usage: tamis-peers FILE ANSWERS SUBSCRIPTIONS BUDGET".into());
    };
    let budget: f64 = budget.parse()?;
    let content = read(&fs::read_to_string(file)?, most.parse()?)?;

    let start = Instant::now();
    let (tree, count) = build(&content, BUILD_BUDGETS * budget)?;
    let built = start.elapsed().as_secs_f64();

    let events = content.events.iter().map(|values| {
        let mut builder = tree.make_event();
        for (at, value) in values.iter().enumerate() {
            builder.with_integer(&format!("a{at}"), *value).map_err(|e| e.to_string())?;
        }
        builder.build().map_err(|e| e.to_string())
    });
    let events = events.collect::<Result<Vec<_>, String>>()?;

    let begin = Instant::now();
    for event in &events {
        search(&tree, event)?;
        if begin.elapsed().as_secs_f64() > budget / 4.0 {
            break;
        }
    }

    let (found, passes) = timed(&tree, &events, budget)?;
    let mut text = String::new();
    let mut matches = 0;
    for mut ids in found.iter().cloned() {
        matches += ids.len();
        ids.sort_unstable();
        text.push_str(&ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
        text.push('\n');
    }
    fs::write(answers, text)?;

    let per_event = 1e6 / found.len() as f64;
    let mean = passes.iter().sum::<f64>() / passes.len() as f64 * per_event;
    let best = passes.iter().copied().fold(f64::INFINITY, f64::min) * per_event;
    println!(
        "{{\"subscriptions\": {count}, \"build_s\": {built:.4}, \"events\": {}, \"repeats\": {}, \
         \"us_per_event\": {mean:.4}, \"us_per_event_best\": {best:.4}, \"matches\": {matches}}}",
        found.len(),
        passes.len(),
    );
    Ok(())
}

fn search(tree: &ATree<u32>, event: &a_tree::Event) -> Result<Vec<u32>, String> {
    let report = tree.search(event).map_err(|e| e.to_string())?;
    Ok(report.matches().iter().map(|id| **id).collect())
}

/// The answers of the first pass, which half of the budget may cut short, and the seconds of each pass.
fn timed(
    tree: &ATree<u32>,
    events: &[a_tree::Event],
    budget: f64,
) -> Result<(Vec<Vec<u32>>, Vec<f64>), String> {
    let begin = Instant::now();
    let mut found = Vec::new();
    for event in events {
        found.push(search(tree, event)?);
        if begin.elapsed().as_secs_f64() > budget / 2.0 {
            break;
        }
    }
    let mut passes = vec![begin.elapsed().as_secs_f64()];
    while begin.elapsed().as_secs_f64() + passes[passes.len() - 1] < budget {
        let start = Instant::now();
        for event in &events[..found.len()] {
            std::hint::black_box(search(tree, event)?);
        }
        passes.push(start.elapsed().as_secs_f64());
    }
    Ok((found, passes))
}

fn build(content: &Content, limit: f64) -> Result<(ATree<u32>, usize), String> {
    let names: Vec<_> = (0..content.attributes)
        .map(|at| AttributeDefinition::integer(&format!("a{at}")))
        .collect();
    let mut tree = ATree::new(&names).map_err(|e| e.to_string())?;
    let start = Instant::now();
    let mut count = 0;
    for text in &content.subscriptions {
        tree.insert(&(count as u32), text).map_err(|e| e.to_string())?;
        count += 1;
        if start.elapsed().as_secs_f64() > limit {
            break;
        }
    }
    Ok((tree, count))
}

fn read(text: &str, most: usize) -> Result<Content, Box<dyn Error>> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or("").split('\t').collect();
    if head.len() != 8 || head[0] != "tamis-peers" || head[1] != "1" {
        return Err("not a common file of peers, version 1".into());
    }
    let count: usize = head[6].parse()?;
    let subscriptions: Vec<String> = lines.by_ref().take(count).map(expression).collect();
    let events = lines.map(|line| line.split(' ').map(str::parse).collect());
    Ok(Content {
        attributes: head[5].parse()?,
        subscriptions: subscriptions.into_iter().take(most).collect(),
        events: events.collect::<Result<_, _>>()?,
    })
}

/// A line of predicates in the language of the crate.
fn expression(line: &str) -> String {
    line.split('\t').map(predicate).collect::<Vec<_>>().join(" and ")
}

fn predicate(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let name = format!("a{}", words[0]);
    match words[1] {
        "between" => format!("({name} >= {} and {name} <= {})", words[2], words[3]),
        "in" => format!("{name} in [{}]", words[2..].join(", ")),
        "!=" => format!("{name} <> {}", words[2]),
        operator => format!("{name} {operator} {}", words[2]),
    }
}
