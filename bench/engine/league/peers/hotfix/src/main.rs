// The league's peer of HotFIX: the crate with its messages. Its sessions are for initiators and asynchronous only.
use chrono::Utc;
use hotfix_message::dict::Dictionary;
use hotfix_message::message::{Config, Message};
use hotfix_message::parsed_message::ParsedMessage;
use hotfix_message::{MessageBuilder, Part, fix44};
use std::collections::HashMap;
use std::fs;
use std::time::Instant;

const BATCH: usize = 64;

type Options = HashMap<String, String>;

fn lines(options: &Options, key: &str) -> Vec<Vec<u8>> {
    let all = fs::read(&options[key]).expect("a file of messages or values");
    all.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

fn time_batches(options: &Options, count: usize, mut work: impl FnMut(usize)) {
    let repeats: usize = options["repeats"].parse().expect("repeats");
    let mut times = Vec::new();
    for _ in 0..repeats {
        for begin in (0..=count - BATCH).step_by(BATCH) {
            let from = Instant::now();
            (begin..begin + BATCH).for_each(&mut work);
            times.extend((from.elapsed().as_nanos() as f64 / BATCH as f64).to_le_bytes());
        }
    }
    fs::write(&options["times"], times).expect("the file of times");
}

fn fold(text: &str) -> u64 {
    let bytes = text.as_bytes();
    bytes.len() as u64 + (u64::from(bytes[0]) << 8) + (u64::from(bytes[bytes.len() - 1]) << 16)
}

fn sum_of(message: &Message) -> u64 {
    let cents = |price: f64| (price * 100.0 + 0.5) as u64;
    let places: [u64; 8] = [
        message.header().get::<u64>(fix44::MSG_SEQ_NUM).expect("34"),
        fold(message.get::<&str>(fix44::CL_ORD_ID).expect("11")),
        u64::from(message.get::<&str>(fix44::EXEC_TYPE).expect("150").as_bytes()[0]),
        message.get::<u64>(fix44::ORDER_QTY).expect("38"),
        cents(message.get::<f64>(fix44::PRICE).expect("44")),
        message.get::<u64>(fix44::LAST_QTY).expect("32"),
        cents(message.get::<f64>(fix44::LAST_PX).expect("31")),
        fold(message.get::<&str>(fix44::SYMBOL).expect("55")),
    ];
    places.iter().zip(0u64..).map(|(value, place)| value * (2 * place + 1)).sum()
}

fn read(options: &Options) {
    let messages = lines(options, "messages");
    let builder = MessageBuilder::new(Dictionary::fix44(), Config::default()).expect("FIX 4.4");
    let mut sum = 0u64;
    time_batches(options, messages.len(), |i| match builder.build(&messages[i]) {
        ParsedMessage::Valid(message) => sum = sum.wrapping_add(sum_of(&message)),
        _ => panic!("a message is refused"),
    });
    println!("sum {sum}");
}

struct Values {
    texts: Vec<String>, // as the line has them
    price: f64,
    last_px: f64,
    avg_px: f64,
}

fn encoded(values: &Values, is_report: bool, seq: u64) -> Vec<u8> {
    let text = |place: usize| values.texts[place].as_str();
    let quantity = |place: usize| values.texts[place].parse::<u64>().expect("a quantity");
    let now = Utc::now().format("%Y%m%d-%H:%M:%S%.3f").to_string();
    let mut message = Message::new("FIX.4.4", if is_report { "8" } else { "D" });
    message.set(fix44::SENDER_COMP_ID, "TRADER");
    message.set(fix44::TARGET_COMP_ID, "VENUE");
    message.set(fix44::MSG_SEQ_NUM, seq);
    message.set(fix44::SENDING_TIME, now.as_str());
    if is_report {
        message.set(fix44::ORDER_ID, text(3));
        message.set(fix44::EXEC_ID, text(4));
        message.set(fix44::EXEC_TYPE, text(8));
        message.set(fix44::ORD_STATUS, text(9));
        message.set(fix44::LAST_QTY, quantity(11));
        message.set(fix44::LEAVES_QTY, quantity(12));
        message.set(fix44::CUM_QTY, quantity(13));
        message.set(fix44::LAST_PX, values.last_px);
        message.set(fix44::AVG_PX, values.avg_px);
    }
    message.set(fix44::CL_ORD_ID, text(0));
    message.set(fix44::ACCOUNT, text(1));
    message.set(fix44::SYMBOL, text(2));
    message.set(fix44::SIDE, text(5));
    message.set(fix44::ORD_TYPE, text(6));
    message.set(fix44::TIME_IN_FORCE, text(7));
    message.set(fix44::ORDER_QTY, quantity(10));
    message.set(fix44::PRICE, values.price);
    message.set(fix44::TRANSACT_TIME, now.as_str());
    message.encode(&Config::default()).expect("a message")
}

fn encode(options: &Options) {
    let is_report = options["type"] == "8";
    let cents = |text: &String| text.parse::<f64>().expect("cents") / 100.0;
    let values: Vec<Values> = lines(options, "values")
        .into_iter()
        .map(|line| {
            let line = String::from_utf8(line).expect("text");
            let texts: Vec<String> = line.split('\t').map(str::to_owned).collect();
            let (price, last_px, avg_px) = (cents(&texts[14]), cents(&texts[15]), cents(&texts[16]));
            Values { texts, price, last_px, avg_px }
        })
        .collect();
    let mut bytes = 0;
    time_batches(options, values.len(), |i| bytes += encoded(&values[i], is_report, i as u64 + 1).len());
    let mut out = Vec::new();
    for (value, seq) in values.iter().zip(1..) {
        out.extend(encoded(value, is_report, seq));
        out.push(b'\n');
    }
    fs::write(&options["out"], out).expect("the file of messages");
    println!("bytes {bytes}");
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let options: Options = words.iter().filter_map(|word| word.split_once('=')).map(|(a, b)| (a.into(), b.into())).collect();
    match words.first().map(String::as_str) {
        Some("rows") => println!("engine HotFIX\nrows read encode"),
        Some("read") => read(&options),
        Some("encode") => encode(&options),
        _ => panic!("rows, read or encode"),
    }
}
