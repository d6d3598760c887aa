"""Trains a small network on the GPU (on the CPU without one) for ever, and tells how far it is: GET / on port 8000."""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch

state = {"step": 0, "loss": None}


class Progress(BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps(state).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


threading.Thread(target=ThreadingHTTPServer(("", 8000), Progress).serve_forever, daemon=True).start()

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).to(device)
optimizer = torch.optim.AdamW(model.parameters())
while True:
    batch = torch.randn(512, 1024, device=device)
    loss = (model(batch) - batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    state.update(step=state["step"] + 1, loss=loss.item())
    if state["step"] % 1000 == 0:
        print(f"step {state['step']}, loss {state['loss']:.4f}")
