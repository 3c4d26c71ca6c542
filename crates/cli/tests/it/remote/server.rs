//! A web server that answers as a test wants, and records the requests. It takes one request per
//! connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request that arrived.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) method: String,
    /// The path and the query.
    pub(super) target: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Returns the value of a header. `name` is in lowercase.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the requested range, resolved for a file of `length` bytes.
    fn range(&self, length: usize) -> Option<(usize, usize)> {
        let (start, end) = self
            .header("range")?
            .strip_prefix("bytes=")?
            .split_once('-')?;
        Some(match start.is_empty() {
            true => (length.saturating_sub(end.parse().unwrap()), length),
            false => {
                let end: usize = end.parse().unwrap();
                (start.parse().unwrap(), length.min(end + 1))
            }
        })
    }
}

/// An answer, with its status, headers and body. The connection is cut after `sent` bytes of the
/// body.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    pub(super) sent: usize,
}

impl Answer {
    pub(super) fn status(status: u16) -> Self {
        Self::of(status, Vec::new())
    }

    pub(super) fn of(status: u16, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            sent: body.len(),
            body,
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }
}

/// Answers like a web server that supports ranges, suffixes and ETags.
pub(super) fn file(bytes: &[u8], tag: &str, request: &Request) -> Answer {
    if request
        .header("if-match")
        .is_some_and(|header| header != tag)
    {
        return Answer::status(412);
    }
    let answer = match request.range(bytes.len()) {
        None => Answer::of(200, bytes.to_vec()),
        Some((start, end)) => {
            let range = format!("bytes {start}-{}/{}", end - 1, bytes.len());
            Answer::of(206, bytes[start..end].to_vec()).with("Content-Range", &range)
        }
    };
    answer.with("ETag", tag)
}

/// A server, which runs until the test's process ends.
pub(super) struct Server {
    pub(super) port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Starts a server. `answer` gets each request and the number of earlier ones.
    pub(super) fn new(answer: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let server = Self {
            port,
            requests: requests.clone(),
        };
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, requests) = (answer.clone(), requests.clone());
                std::thread::spawn(move || serve(stream.unwrap(), &requests, &*answer));
            }
        });
        server
    }

    /// Starts a server that has a single file.
    pub(super) fn of_file(bytes: Vec<u8>) -> Self {
        Self::new(move |request, _| file(&bytes, "\"a\"", request))
    }

    pub(super) fn url(&self, target: &str) -> String {
        format!("http://127.0.0.1:{}/{target}", self.port)
    }

    /// Returns the requests since the last call.
    pub(super) fn take(&self) -> Vec<Request> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

fn serve(
    stream: TcpStream,
    requests: &Mutex<Vec<Request>>,
    answer: &(impl Fn(&Request, usize) -> Answer + ?Sized),
) {
    let mut reader = BufReader::new(stream);
    let Some(request) = read(&mut reader) else {
        return;
    };
    let before = {
        let mut requests = requests.lock().unwrap();
        requests.push(request.clone());
        requests.len() - 1
    };
    let answer = answer(&request, before);
    let mut text = format!("HTTP/1.1 {} Status\r\nConnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("Content-Length: {}\r\n\r\n", answer.body.len());
    let stream = reader.get_mut();
    let body = match request.method.as_str() {
        "HEAD" => &[][..],
        _ => &answer.body[..answer.sent],
    };
    // The command might have closed the connection, so this might fail.
    stream
        .write_all(text.as_bytes())
        .and_then(|()| stream.write_all(body))
        .ok();
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.to_owned()));
    }
    let mut request = Request {
        method,
        target,
        headers,
        body: Vec::new(),
    };
    let length = request
        .header("content-length")
        .map_or(0, |header| header.parse().unwrap());
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}
