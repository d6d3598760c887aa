-- maintenance.db as the released version 0.1.0 wrote it.
PRAGMA auto_vacuum = 0;
PRAGMA journal_mode = wal;
PRAGMA application_id = 0;
PRAGMA user_version = 0;
CREATE TABLE lists (name TEXT PRIMARY KEY, body TEXT NOT NULL) STRICT;
INSERT INTO lists (name, body) VALUES ('silences', '[{"id":"7b05f1e54a1d","created_at":1793491200000,"gpu":"0","until":2793491200000,"reason":"maintenance window","by":"kim"}]');
INSERT INTO lists (name, body) VALUES ('acknowledged', '[["aaaaaaaaaaaaaaaa",{"at":1793491200000,"by":"kim"}]]');
INSERT INTO lists (name, body) VALUES ('accepted', '[{"kind":"ecc_uncorrected","whose":"GPU-1","severity":"critical","facts":{"ecc_uncorrected_volatile":3},"at":1793491200000}]');
