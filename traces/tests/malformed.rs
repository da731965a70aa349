//! Faulty files: cut at every byte, changed at random, wrong in one field. Reading never panics: the result is a run,
//! or an error with a position in the file.

#[path = "../fuzz/trace.rs"]
mod fuzz;

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::path::PathBuf;
use superscalar_traces::Trace;
use superscalar_traces::check::{check, check_reading};
use superscalar_traces::merge::{MergeOptions, TimeOrigin, merge};
use superscalar_traces::read::{ReadError, ReadOptions};

/// Every construct of the format once, and other contents that a file may have.
const WHOLE: &str = r#"{"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","name":"process_name","pid":2,"args":{"name":"workers"}},
{"ph":"M","name":"thread_name","pid":2,"tid":4,"args":{"name":"worker 0","kind":"worker"}},
{"ph":"M","name":"thread_name","pid":2,"tid":5,"args":{"name":"worker 0 (2)","kind":"worker"}},
{"ph":"M","name":"thread_sort_index","pid":2,"tid":4,"args":{"sort_index":-1}},
{"ph":"X","cat":"task","name":"potrf","pid":2,"tid":4,"ts":10.500,"dur":7.25,
"args":{"task":0,"outcome":"completed","inserted":1.000,"index":[2,0,0],"priority":3,
"BLAS level":3,"flops":1.5e7,"bytes":1152000,"site":"a\\\u0062 \ud83d\ude00.rs:9"}},
{"ph":"X","cat":"task","name":"trsm é","pid":2,"tid":5,"ts":20,"dur":5,
"args":{"task":1,"outcome":"failed","priority":-3}},
{"ph":"X","cat":"transfer","name":"host to cuda:0","pid":"x","tid":"y","ts":1,"dur":2,
"args":{"bytes":64,"from":"host","to":"cuda:0","task":1,"datum":4}},
{"ph":"X","cat":"stall","name":"data","pid":2,"tid":4,"ts":18,"dur":1,"args":{"task":1}},
{"ph":"s","cat":"hazard","name":"RaW","id":1,"pid":2,"tid":4,"ts":17,"args":{"from":0,"to":1,"datum":4}},
{"ph":"f","cat":"hazard","name":"RaW","id":1,"pid":2,"tid":5,"ts":21,"bp":"e","args":{"from":0,"to":1,"datum":4}},
{"ph":"s","cat":"hazard","name":"WaW","id":"two","pid":2,"tid":4,"ts":17},
{"ph":"f","cat":"hazard","name":"WaW","id":"two","pid":2,"tid":5,"ts":19},
{"ph":"i","cat":"hazard","name":"WaR","pid":2,"tid":5,"ts":20,"s":"t","args":{"from":0,"to":1}},
{"ph":"B","name":"main","pid":9,"tid":9,"ts":0},{"ph":"E","pid":9,"tid":9,"ts":3},
{"ph":"C","name":"ready tasks","pid":1,"ts":0.5,"args":{"value":1}},
{"ph":"N","name":"other","args":[[{"a":null}],true]}
],"otherData":{"tasks":2,"records dropped":0,"window":64,"complete":true,"machine":"a laptop"},"more":{"x":[1,-2.5E+3]}}
"#;

/// Reads `text` strictly and as far as possible, and compares the results.
fn read(text: &[u8]) -> Result<Trace, ReadError> {
    let options = ReadOptions::default();
    let partial = options.read_whole_events(text).expect("a slice has no errors of its own");
    assert_sound(&partial.trace);
    check_reading(&partial);
    match options.read(text) {
        Ok(reading) => {
            assert!(partial.broken.is_none());
            assert_eq!(reading.trace, partial.trace);
            Ok(reading.trace)
        }
        Err(error) => {
            assert_eq!(partial.broken.map(|error| error.to_string()), Some(error.to_string()));
            assert_position(text, &error);
            Err(error)
        }
    }
}

/// Checks the properties that every user of the model relies on.
fn assert_sound(trace: &Trace) {
    let faults = check(trace);
    assert_eq!(faults.faults_of(superscalar_traces::check::Rule::Places), 0);
    assert_eq!(faults.faults_of(superscalar_traces::check::Rule::Length), 0);
    assert!(trace.tasks.is_sorted_by_key(|task| (task.start_ns, task.id)));
    assert!(trace.hazards.is_sorted_by_key(|hazard| (hazard.to, hazard.from)));
    assert!(trace.activities.is_sorted_by_key(|activity| activity.start_ns));
    assert!(trace.counters.iter().all(|counter| counter.samples.is_sorted_by_key(|sample| sample.0)));
}

/// Checks that the error's position is in the file, and that line and column match its offset.
fn assert_position(text: &[u8], error: &ReadError) {
    let at = error.position().expect("a fault of the text has a position");
    let before = text.get(..at.offset as usize).unwrap_or_else(|| panic!("{error} is after the end"));
    assert_eq!(at.line, 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64, "{error}");
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    assert_eq!(at.column, line.len() as u64 + 1, "{error}");
    assert!(error.to_string().starts_with(&format!("{at}: ")), "{error}");
}

#[test]
fn the_whole_file_is_read() {
    let trace = read(WHOLE.as_bytes()).unwrap();
    assert_eq!((trace.tasks.len(), trace.hazards.len(), trace.activities.len()), (2, 3, 3));
    assert_eq!(trace.sites, ["a\\b 😀.rs:9"]);
    assert_eq!(trace.lanes.iter().filter(|lane| lane.name == "worker 0").count(), 1);
}

#[test]
fn file_cut_at_any_byte_is_read_partly() {
    let bytes = WHOLE.as_bytes();
    let mut tasks = 0;
    for cut in 0..bytes.len() {
        let text = &bytes[..cut];
        let reading = ReadOptions::default().read_whole_events(text).unwrap();
        assert!(reading.trace.tasks.len() >= tasks, "cut at byte {cut}");
        tasks = reading.trace.tasks.len();
        match read(text) {
            Ok(_) => assert!(WHOLE[cut..].trim().is_empty(), "cut at byte {cut}"),
            // A file cut within a character is invalid UTF-8 and not too short.
            Err(error) if str::from_utf8(text).is_ok() => {
                assert!(error.is_cut_short(), "cut at byte {cut}: {error}");
                assert_eq!(error.position().unwrap().offset, cut as u64, "{error}");
            }
            Err(error) => assert!(error.position().unwrap().offset <= cut as u64, "{error}"),
        }
    }
    assert_eq!(tasks, 2);
}

/// Words that a change may insert: those of the format, and numbers at limits.
const WORDS: [&str; 20] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "null",
    "1e999",
    "-1",
    "18446744073709551616",
    "0.0000000001",
    "\"ph\":\"E\",",
    "\"ts\":1e19,",
    "\"dur\":-0.5,",
    "\u{0}",
    "\n",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "\"args\":7,",
];

#[test]
fn changed_file_is_read_or_refused() {
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut refused = 0;
    const MERGED_EVERY: u32 = 8;
    // FUZZ_FILES sets the number of changed files.
    let runs = std::env::var("FUZZ_FILES").map_or(20_000, |files| files.parse().expect("FUZZ_FILES is a number"));
    for run in 0..runs {
        let mut text = WHOLE.as_bytes().to_vec();
        for _ in 0..1 + random.random_range_of(3) {
            let at = random.random_range_of(text.len());
            let to = (at + random.random_range_of(40)).min(text.len());
            match random.random_range_of(5) {
                0 => text[at] ^= 1 << random.random_range_of(8),
                1 => drop(text.drain(at..to)),
                2 => drop(text.splice(at..at, WORDS[random.random_range_of(WORDS.len())].bytes())),
                3 => {
                    // Insert a piece from elsewhere.
                    let from = random.random_range_of(text.len());
                    let piece = text[from..(from + 60).min(text.len())].to_vec();
                    drop(text.splice(at..to, piece));
                }
                _ => text[at] = random.random_range_of(256) as u8,
            }
            if text.is_empty() {
                text.push(b' ');
            }
        }
        let outcome = std::panic::catch_unwind(|| {
            fuzz::assert_sound(&text);
            let read = read(&text);
            if run % MERGED_EVERY == 0 {
                assert_merges(&text, read.as_ref().ok());
            }
            read.is_err()
        });
        match outcome {
            Ok(is_refused) => refused += u32::from(is_refused),
            Err(panic) => {
                eprintln!("run {run} of the seed: {}", String::from_utf8_lossy(&text));
                std::panic::resume_unwind(panic);
            }
        }
    }
    assert!(
        (runs / 4..runs).contains(&refused),
        "{refused} of {runs} were refused: the changes are too mild or too strong"
    );
}

/// Checks that a readable file can be merged, and that it is unchanged as a part of the merged trace.
fn assert_merges(text: &[u8], read: Option<&Trace>) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("changed.json");
    std::fs::write(&path, text).unwrap();
    for time_origin in [TimeOrigin::Kept, TimeOrigin::Aligned] {
        let mut out = Vec::new();
        let options = MergeOptions { time_origin, ..MergeOptions::default() };
        match (merge(&[path.clone(), path.clone()], &mut out, &options), read) {
            (Ok(_), Some(trace)) => {
                let both = Trace::read(&out[..]).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(both.tasks.len(), 2 * trace.tasks.len());
                assert_eq!(both.hazards.len(), 2 * trace.hazards.len());
                assert_eq!(both.activities.len(), 2 * trace.activities.len());
                assert_eq!(both.lanes.len(), 2 * trace.lanes.len());
            }
            (Err(error), Some(_)) => assert!(error.to_string().contains("cannot be renumbered"), "{error}"),
            // A file that is not a trace may still have events that can be copied.
            (_, None) => {}
        }
    }
}

/// Random numbers below a bound; their bias does not matter here.
trait Below {
    fn random_range_of(&mut self, bound: usize) -> usize;
}

impl Below for TestRng {
    fn random_range_of(&mut self, bound: usize) -> usize {
        (self.next_u64() % bound as u64) as usize
    }
}

#[test]
fn messages_name_the_expected_value() {
    const EVENTS: &str = "{\"traceEvents\":[";
    // A task's event with one field changed; `^` marks the position of the fault.
    let task = |changes: &str| {
        let event = r#"{"ph":"X","cat":"task","name":"a","ts":1,"dur":2,"args":{"task":1}"#;
        let at = if changes.contains('^') { "" } else { "^" };
        format!("[{at}{event},{changes}}}]")
    };
    let argument = |changes: &str| task(&format!("\"args\":{{\"task\":1,{changes}}}"));
    let plan = |arguments: &str| {
        format!("[{{\"ph\":\"X\",\"cat\":\"plan\",\"name\":\"a\",\"ts\":1,\"dur\":2,\"args\":{{{arguments}}}}}]")
    };
    let cases = [
        (plan("\"bytes\":^7"), "`bytes` must be an object of integers from 0 to 2^64 - 1, not 7"),
        (plan("\"bytes\":^{\"x\":-1}"), "`bytes` must be an object of integers from 0 to 2^64 - 1, not {\"x\":-1}"),
        (plan("\"tile\":^[1,2.5]"), "`tile` must be integers from 0 to 2^64 - 1, not [1,2.5]"),
        ("^".to_owned(), "the file ends here, within nothing: it is empty"),
        ("^hello".to_owned(), "expected `{` or `[`, found 'h'"),
        ("{ ^}".to_owned(), "the object ends without `traceEvents`"),
        (format!("{EVENTS}]^,\"traceEvents\":[]}}"), "`traceEvents` occurs a second time"),
        ("{\"traceEvents\":^{}}".to_owned(), "expected `[`, the events, found '{'"),
        (format!("{EVENTS}]}}^x"), "expected the end of the file, found 'x'"),
        (format!("{EVENTS}^7]}}"), "expected an event, `{`, found '7'"),
        ("[^{\"ph\":\"X\"}]".to_owned(), "a slice has no `ts`"),
        ("[{\"ph\":\"N\"},^]".to_owned(), "expected an event, `{`, found ']'"),
        ("[{\"ph\":\"N\"}^{".to_owned(), "expected `,` or `]`, found '{'"),
        ("[^{}]".to_owned(), "an event has no `ph`"),
        ("[{\"ph\":^7}]".to_owned(), "`ph` must be a string, not 7"),
        ("[{\"ph\"^;7}]".to_owned(), "expected `:`, found ';'"),
        ("[{\"ph\":\"^\n\"}]".to_owned(), "expected a closing quote, found '\\n'"),
        ("[{\"a\":^01}]".to_owned(), "expected a number without leading zeros, found '0'"),
        ("[{\"a\":-^}]".to_owned(), "expected a digit, found '}'"),
        ("[{\"a\":1.^e}]".to_owned(), "expected a digit, found 'e'"),
        ("[{\"a\":^x}]".to_owned(), "expected a value, found 'x'"),
        ("[{\"a\":^truth}]".to_owned(), "expected a value, found 't'"),
        ("[{\"a\":\"\\^x\"}]".to_owned(), "expected one of \" \\ / b f n r t u after a backslash, found 'x'"),
        (task("\"ts\":^-1"), "`ts` must be microseconds from 0 to 2^64 ns, not -1"),
        (task("\"dur\":^\"2\""), "`dur` must be microseconds from 0 to 2^64 ns, not \"2\""),
        (
            task("\"dur\":^18446744073709551"),
            "`dur` must be such that the slice ends before 2^64 ns, not 18446744073709551",
        ),
        (task("\"tid\":^[1]"), "`tid` must be a number or a string, not [1]"),
        (task("\"args\":{}"), "a task's slice has no `task`"),
        (argument("\"task\":^1.5"), "`task` must be an integer from 0 to 2^64 - 1, not 1.5"),
        (argument("\"index\":^[1,2,3,4]"), "`index` must be at most three integers of 32 bits, not [1,2,3,4]"),
        (argument("\"BLAS level\":^4"), "`BLAS level` must be 0, 1, 2 or 3, not 4"),
        (argument("\"flops\":^-1"), "`flops` must be a number that is not negative, not -1"),
        (argument("\"outcome\":^\"well\""), "`outcome` must be completed, failed, panicked or cancelled, not \"well\""),
        (
            format!("[{{\"args\":{{\"x\":{}^[1]{}}}}}]", "[".repeat(64), "]".repeat(64)),
            "more nested brackets than the limit of 64",
        ),
        (
            format!("{EVENTS}],\"otherData\":{{\"window\":^\"x\"}}}}"),
            "`window` must be an integer from 0 to 2^64 - 1, not \"x\"",
        ),
    ];
    for (text, message) in cases {
        let offset = text.find('^').unwrap_or_else(|| panic!("{text} has no mark"));
        let error = read(text.replacen('^', "", 1).as_bytes()).expect_err(&text);
        let told = error.to_string();
        let told = told.split_once("): ").map_or("", |(_, told)| told);
        assert_eq!((told, error.position().unwrap().offset), (message, offset as u64), "{text}");
    }
}

#[test]
fn limits_are_kept() {
    let names: Vec<String> = (0..9)
        .map(|number| {
            format!(r#"{{"ph":"X","cat":"task","name":"k{number}","ts":1,"dur":1,"args":{{"task":{number}}}}}"#)
        })
        .collect();
    let text = format!("[{}]", names.join(","));
    let read = |options: ReadOptions| options.read(text.as_bytes()).map(|_| ());
    assert!(read(ReadOptions { names_max: 9, name_bytes_max: 18, ..ReadOptions::default() }).is_ok());
    assert!(read(ReadOptions { names_max: 8, ..ReadOptions::default() }).unwrap_err().is_limit());
    assert!(read(ReadOptions { name_bytes_max: 17, ..ReadOptions::default() }).unwrap_err().is_limit());
    let long = format!("[{{\"ph\":\"N\",\"x\":\"{}\"}}]", "y".repeat(3 << 20));
    let options = ReadOptions { event_bytes_max: 1 << 20, ..ReadOptions::default() };
    let error = options.read(long.as_bytes()).unwrap_err();
    assert!(error.is_limit());
    assert_eq!(error.position().unwrap().offset, 1, "the event that is too long");
    assert!(ReadOptions::default().read(long.as_bytes()).is_ok());
    // Values that are not events are skipped at any length.
    let outside = format!("{{\"x\":[{}1],\"traceEvents\":[]}}", "1,".repeat(3 << 20));
    assert!(options.read(outside.as_bytes()).is_ok());
}
