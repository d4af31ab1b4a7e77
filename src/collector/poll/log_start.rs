//! From where a coordinator log is to be read.

use std::collections::BTreeMap;

use crate::collector::log::start;
use crate::frame::order::History;
use crate::kafka::{Admin, CallError, Client, Log, Spec, TopicAnswer};
use crate::model::Name;

/// From where a log is to be read, and what topic ids are called.
pub struct LogStart {
    pub plan: start::Plan,
    pub ids: Vec<(uuid::Uuid, Name)>,
}

/// Where to begin, at `resume` at the latest; `None` while there is no such topic.
pub async fn find_start(
    admin: &Admin,
    client: Client,
    log: Log,
    history: History,
    resume: &BTreeMap<i32, i64>,
    topics: Vec<Name>,
) -> Result<Option<LogStart>, CallError> {
    let topic = Name::new(log.topic());
    let mut asked = topics;
    asked.retain(|name| *name != topic);
    asked.push(topic.clone());
    let answers = admin.describe_topics(&asked).await?;
    let count = match answers.get(&topic) {
        Some(TopicAnswer::Described(described)) => described.partitions.len(),
        Some(TopicAnswer::Gone) | None => return Ok(None),
        Some(TopicAnswer::Denied) => return Err(CallError::Code { code: 29, text: topic }),
        Some(TopicAnswer::Failed(error)) => return Err(error.clone()),
    };
    let ids = answers.iter().filter_map(|(name, answer)| match answer {
        TopicAnswer::Described(described) => Some((described.id?, name.clone())),
        _ => None,
    });
    let ids = ids.collect();
    let partitions: Vec<(Name, i32)> = (0..count as i32).map(|partition| (topic.clone(), partition)).collect();
    let starts = offsets(admin, &partitions, Spec::Earliest).await?;
    let ends = offsets(admin, &partitions, Spec::Latest).await?;
    let bounds: BTreeMap<i32, (i64, i64)> = starts
        .into_iter()
        .filter_map(|(partition, start)| Some((partition, (start, *ends.get(&partition)?))))
        .collect();
    if bounds.len() < count {
        return Err(CallError::Timeout);
    }
    let since = match start::needs_times(&bounds, history) {
        None => BTreeMap::new(),
        Some(back) => {
            let now = super::super::wall_now();
            let since = now.minus(back);
            let (numbers, timeout) = (bounds.keys().copied().collect::<Vec<_>>(), admin.timeout());
            let find = move || client.offsets_since(log.topic(), &numbers, since, timeout);
            tokio::task::spawn_blocking(find).await.map_err(|_| CallError::Timeout)??
        }
    };
    Ok(Some(LogStart { plan: start::plan(&bounds, history, &since, resume), ids }))
}

async fn offsets(admin: &Admin, partitions: &[(Name, i32)], spec: Spec) -> Result<BTreeMap<i32, i64>, CallError> {
    let answer = admin.list_offsets(partitions, spec).await?;
    answer.into_iter().map(|((_, partition), offset)| Ok((partition, offset?))).collect()
}
