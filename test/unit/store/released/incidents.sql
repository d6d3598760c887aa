-- incidents.db as the released version 0.1.0 wrote it.
PRAGMA auto_vacuum = 2;
PRAGMA journal_mode = wal;
PRAGMA application_id = 1467435374;
PRAGMA user_version = 1;
CREATE TABLE incidents (id TEXT PRIMARY KEY, kind TEXT NOT NULL, status TEXT NOT NULL, started_at INTEGER NOT NULL, last_seen_at INTEGER NOT NULL, summary TEXT NOT NULL, evidence BLOB NOT NULL) STRICT;
CREATE INDEX incidents_by_start ON incidents (started_at);
CREATE INDEX incidents_by_status ON incidents (status, started_at);
INSERT INTO incidents (id, kind, status, started_at, last_seen_at, summary, evidence) VALUES ('aaaaaaaaaaaaaaaa', 'xid', 'firing', 1793491200000, 1793491201000, '{"id":"aaaaaaaaaaaaaaaa","kind":"xid","severity":"critical","status":"firing","started_at":1793491200000,"last_seen_at":1793491201000,"count":2,"title":"GPU 0: Xid 79","subject":{"gpu":{"index":0,"uuid":"GPU-1"}},"verdict":"v","certainty":"certain","remedies":[],"runbook":"xid","evidence":{}}', x'ab56cac94f2f56b28a8ed5512a4e2dca4c85b2d312934bc0cc5a00');
INSERT INTO incidents (id, kind, status, started_at, last_seen_at, summary, evidence) VALUES ('bbbbbbbbbbbbbbbb', 'xid', 'resolved', 1793491200001, 1793491201000, '{"id":"bbbbbbbbbbbbbbbb","kind":"xid","severity":"critical","status":"resolved","started_at":1793491200001,"last_seen_at":1793491201000,"count":2,"title":"GPU 0: Xid 79","subject":{"gpu":{"index":0,"uuid":"GPU-1"}},"verdict":"v","certainty":"certain","remedies":[],"runbook":"xid","resolved_at":1793491202000,"evidence":{}}', x'ab56cac94f2f56b28a8ed5512a4e2dca4c85b2d312934bc0cc5a00');
