package sqlitevec

// The tables: the space of all vectors in this file, in one row, and the records.
var schema = []string{
	`CREATE TABLE IF NOT EXISTS space (
		one   INTEGER PRIMARY KEY CHECK (one = 1),
		model TEXT NOT NULL,
		dim   INTEGER NOT NULL
	) STRICT`,
	`CREATE TABLE IF NOT EXISTS records ` + columns,
	index,
	`DROP INDEX IF EXISTS records_of_user`, // which files of earlier versions have instead
}

// columns of a table of records. What is compared comes first: long contents
// spill to pages that a search never reads.
const columns = `(
	id          TEXT NOT NULL UNIQUE,
	app_id      TEXT NOT NULL,
	user_id     TEXT NOT NULL,
	agent_id    TEXT NOT NULL,
	domain      TEXT NOT NULL,
	memory_type TEXT NOT NULL,
	created_at  INTEGER NOT NULL, -- unix milliseconds
	embedding   BLOB NOT NULL,    -- unit length, 32-bit floats, little-endian
	content     TEXT NOT NULL
) STRICT`

// index finds a user's records, those of a slice of time without reading the others.
const index = `CREATE INDEX IF NOT EXISTS records_of_user_by_time ON records (app_id, user_id, created_at)`
