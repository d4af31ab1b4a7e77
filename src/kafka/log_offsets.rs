//! ListOffsets: where the logs of partitions start and end.
#![allow(unsafe_code)]

use std::collections::BTreeMap;

use rdkafka::bindings as rd;
use rdkafka::bindings::rd_kafka_admin_op_t as Op;

use super::admin::{Admin, slice};
use super::error::{self, CallError, name};
use super::groups::c_string;
use crate::model::Name;

/// Which offset of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Spec {
    /// Log start offset.
    Earliest,
    /// Last stable offset: where `isolation.level=read_committed` ends.
    Stable,
    /// High watermark.
    Latest,
}

/// Offset or failure of each partition that was asked for.
pub type LogOffsets = BTreeMap<(Name, i32), Result<i64, CallError>>;

impl Admin {
    /// ListOffsets of some partitions. librdkafka's cost is quadratic in their number: ask for at most a few hundred,
    /// of one leader, in a call (then it is one request).
    pub async fn list_offsets(&self, partitions: &[(Name, i32)], spec: Spec) -> Result<LogOffsets, CallError> {
        let offset = match spec {
            Spec::Earliest => rd::rd_kafka_OffsetSpec_t::RD_KAFKA_OFFSET_SPEC_EARLIEST,
            Spec::Stable | Spec::Latest => rd::rd_kafka_OffsetSpec_t::RD_KAFKA_OFFSET_SPEC_LATEST,
        };
        let isolation = match spec {
            Spec::Stable => rd::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED,
            Spec::Earliest | Spec::Latest => rd::rd_kafka_IsolationLevel_t::RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED,
        };
        self.call(
            Op::RD_KAFKA_ADMIN_OP_LISTOFFSETS,
            // SAFETY: the list is made here, copied by the call and destroyed here; each added element is valid until
            // the next one is added. The error object of the option would be ours: it is freed.
            |rk, options, queue| unsafe {
                let list = rd::rd_kafka_topic_partition_list_new(i32::try_from(partitions.len()).unwrap_or(0));
                for (topic, partition) in partitions {
                    let element = rd::rd_kafka_topic_partition_list_add(list, c_string(topic).as_ptr(), *partition);
                    (*element).offset = offset as i64;
                }
                let refused = rd::rd_kafka_AdminOptions_set_isolation_level(options.raw(), isolation);
                if !refused.is_null() {
                    rd::rd_kafka_error_destroy(refused);
                }
                rd::rd_kafka_ListOffsets(rk, list, options.raw(), queue);
                rd::rd_kafka_topic_partition_list_destroy(list);
            },
            |event| {
                // SAFETY: the event is of this call, so the cast holds; infos and elements belong to the event.
                unsafe {
                    let result = rd::rd_kafka_event_ListOffsets_result(event.raw());
                    let mut count = 0;
                    let infos = rd::rd_kafka_ListOffsets_result_infos(result, &raw mut count);
                    Ok(slice(infos.cast_const(), count).iter().filter_map(|info| offset_of(*info)).collect())
                }
            },
        )
        .await
    }
}

/// # Safety
/// `info` must belong to a living ListOffsets event.
unsafe fn offset_of(
    info: *const rd::rd_kafka_ListOffsetsResultInfo_t,
) -> Option<((Name, i32), Result<i64, CallError>)> {
    // SAFETY: the caller's promise; the element belongs to the info.
    let element = unsafe { rd::rd_kafka_ListOffsetsResultInfo_topic_partition(info).as_ref() }?;
    let key = (name(element.topic)?, element.partition);
    Some((key, told(element.offset, error::CallError::from_code(element.err))))
}

/// The offset, unless there is none. Of partitions of a broker that went while it was asked librdkafka 2.12 gives
/// RD_KAFKA_OFFSET_INVALID (−1001) and no error.
fn told(offset: i64, error: Option<CallError>) -> Result<i64, CallError> {
    match error {
        Some(error) => Err(error),
        None if offset < 0 => Err(CallError::Timeout),
        None => Ok(offset),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_offset_is_a_failure() {
        assert_eq!(told(0, None), Ok(0));
        assert_eq!(told(81, None), Ok(81));
        for none in [-1, -1001] {
            assert_eq!(told(none, None), Err(CallError::Timeout), "{none}");
        }
        let refused = CallError::Code { code: 29, text: "refused".into() };
        assert_eq!(told(-1001, Some(refused.clone())), Err(refused));
    }
}
