//! client PROXY-PORT ORIGIN: the exchanges of test_real_clients.py with nothing but Rust's standard library, on one
//! connection that is kept.

use std::env::args;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

fn line(reader: &mut BufReader<TcpStream>) -> String {
    let mut text = String::new();
    reader.read_line(&mut text).expect("a line");
    text.trim_end().to_string()
}

/// Status and body of the next answer.
fn answer(reader: &mut BufReader<TcpStream>) -> (u16, Vec<u8>) {
    let status = line(reader).split(' ').nth(1).expect("a status").parse().expect("a number");
    let (mut length, mut chunked) = (0, false);
    loop {
        let field = line(reader).to_lowercase();
        if field.is_empty() {
            break;
        }
        if let Some(value) = field.strip_prefix("content-length: ") {
            length = value.parse().expect("a length");
        }
        chunked |= field == "transfer-encoding: chunked";
    }
    let mut body = vec![0; length];
    if !chunked {
        reader.read_exact(&mut body).expect("a body");
        return (status, body);
    }
    loop {
        let size = usize::from_str_radix(&line(reader), 16).expect("a size");
        let start = body.len();
        body.resize(start + size, 0);
        reader.read_exact(&mut body[start..]).expect("a chunk");
        assert_eq!(line(reader), "");
        if size == 0 {
            return (status, body);
        }
    }
}

fn main() {
    let arguments: Vec<String> = args().collect();
    let origin = &arguments[2];
    let host = origin.strip_prefix("http://").expect("a URL");
    let mut socket = TcpStream::connect(("127.0.0.1", arguments[1].parse().expect("a port"))).expect("a connection");
    let mut reader = BufReader::new(socket.try_clone().expect("a second handle"));
    for _ in 0..20 {
        write!(socket, "GET {origin}/get HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("writing");
        assert_eq!(answer(&mut reader), (200, b"hello".to_vec()));
    }
    let body = vec![b'r'; 100_000];
    write!(socket, "POST {origin}/echo HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n", body.len()).expect("writing");
    socket.write_all(&body).expect("writing");
    assert_eq!(answer(&mut reader), (200, body.clone()));
    write!(socket, "POST {origin}/echo HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n").expect("writing");
    for piece in body.chunks(7_000) {
        write!(socket, "{:x}\r\n", piece.len()).expect("writing");
        socket.write_all(piece).expect("writing");
        write!(socket, "\r\n").expect("writing");
    }
    write!(socket, "0\r\n\r\n").expect("writing");
    assert_eq!(answer(&mut reader), (200, body));
    write!(socket, "GET {origin}/chunked HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("writing");
    assert_eq!(answer(&mut reader).1.len(), 200_000);
    println!("ok");
}
