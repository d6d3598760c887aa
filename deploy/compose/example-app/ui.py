"""A page that tells how the trainer goes, on port 7860. GET /health: 200 while the trainer answers, else 503."""
import json
import os
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TRAINER = os.environ.get("TRAINER", "http://127.0.0.1:8000/")


def progress():
    try:
        with urllib.request.urlopen(TRAINER, timeout=3) as answer:
            return json.load(answer)
    except OSError:
        return None


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        now = progress()
        ok = now is not None
        status = 200 if ok or self.path != "/health" else 503
        text = f"step {now['step']}, loss {now['loss']}" if ok else "the trainer does not answer"
        body = f"{text}\n".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("", int(os.environ.get("PORT", "7860"))), Page)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
