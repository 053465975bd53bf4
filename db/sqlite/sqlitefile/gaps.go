package sqlitefile

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"slices"
	"sync/atomic"
)

// Write runs f in a transaction that has the write lock from its beginning.
type Write func(ctx context.Context, f func(tx *sql.Tx) error) error

// Cleaner overwrites the unused parts of the pages of tables and indexes. When SQLite
// divides or merges pages, it leaves copies of the moved rows there. secure_delete overwrites deleted rows only where
// they are stored.
type Cleaner struct {
	reader *sql.DB
	write  Write
	asked  atomic.Int64
	turn   chan struct{} // held by the one search at a time
	done   int64         // the latest of asked that a search has served
}

// NewCleaner makes a cleaner of the file that reader reads and write changes.
func NewCleaner(reader *sql.DB, write Write) *Cleaner {
	return &Cleaner{reader: reader, write: write, turn: make(chan struct{}, 1)}
}

const (
	pagesRead    = 512     // by one statement, so that the log can be emptied in between
	pagesWritten = 128     // by one transaction
	maxPages     = 1 << 25 // from this number on, a page of another kind can begin like one of a table
)

// ErrTooLarge says that a file has too many pages to distinguish their kinds.
var ErrTooLarge = errors.New("the file has 2^25 pages or more: only VACUUM removes copies of deleted rows")

// Clean removes every copy of a row that is deleted by now. It reads the whole file and
// writes only pages with copies, while others read and write. Callers that wait for a
// search share the next one.
func (c *Cleaner) Clean(ctx context.Context) error {
	mine := c.asked.Add(1)
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.done >= mine {
		return nil
	}
	serves := c.asked.Load()
	var pages int
	if err := c.reader.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&pages); err != nil {
		return err
	}
	if pages >= maxPages {
		return ErrTooLarge
	}
	for first := 1; first <= pages; first += pagesRead {
		err := c.clean(ctx, `
			WITH RECURSIVE numbers (n) AS (VALUES (?1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)
			SELECT n, data FROM numbers CROSS JOIN sqlite_dbpage ON pgno = n`, first, min(pages, first+pagesRead-1))
		if err != nil {
			return err
		}
	}
	c.done = serves
	return nil
}

// CleanTable is Clean for one table and its indexes.
func (c *Cleaner) CleanTable(ctx context.Context, table string) error {
	return c.clean(ctx, `SELECT pageno, data FROM dbstat CROSS JOIN sqlite_dbpage ON pgno = pageno
		WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = ?) AND pagetype <> 'overflow'`, table)
}

// clean cleans the pages that a query returns with their numbers.
func (c *Cleaner) clean(ctx context.Context, query string, args ...any) error {
	found, err := c.pagesWithCopies(ctx, query, args...)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(found, pagesWritten) {
		if err := c.write(ctx, func(tx *sql.Tx) error { return zeroGaps(ctx, tx, some) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cleaner) pagesWithCopies(ctx context.Context, query string, args ...any) (found []int, err error) {
	rows, err := c.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var number int
		var page sql.RawBytes
		if err := rows.Scan(&number, &page); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(gaps(number, page), func(g gap) bool { return !isZero(page[g.from:g.to]) }) {
			found = append(found, number)
		}
	}
	return found, rows.Err()
}

func zeroGaps(ctx context.Context, tx *sql.Tx, numbers []int) error {
	for _, number := range numbers {
		var page []byte
		err := tx.QueryRowContext(ctx, `SELECT data FROM sqlite_dbpage WHERE pgno = ?`, number).Scan(&page)
		if err != nil {
			return err
		}
		for _, g := range gaps(number, page) {
			clear(page[g.from:g.to])
		}
		if _, err := tx.ExecContext(ctx, `UPDATE sqlite_dbpage SET data = ? WHERE pgno = ?`, page, number); err != nil {
			return err
		}
	}
	return nil
}

func isZero(part []byte) bool {
	for _, b := range part {
		if b != 0 {
			return false
		}
	}
	return true
}

type gap struct{ from, to int }

// gaps returns the unused parts of a page of a table or an index: between the pointers to
// its rows and the rows, and in free blocks. A page of another kind has no such parts: its first byte is part of a page
// number, and so shows the kind. https://www.sqlite.org/fileformat.html#b_tree_pages
func gaps(number int, page []byte) []gap {
	header := 0
	if number == 1 {
		header = 100 // of the file
	}
	at := func(offset int) int { return int(binary.BigEndian.Uint16(page[offset:])) }
	rowsAt := header
	switch page[header] {
	case 2, 5:
		rowsAt += 12
	case 10, 13:
		rowsAt += 8
	default:
		return nil
	}
	rows, content := at(header+3), at(header+5)
	if content == 0 {
		content = 1 << 16
	}
	pointersEnd := rowsAt + 2*rows
	if pointersEnd > content || content > len(page) {
		return nil
	}
	for i := range rows {
		if row := at(rowsAt + 2*i); row < content || row >= len(page) {
			return nil
		}
	}
	found := []gap{{pointersEnd, content}}
	const blockHeader = 4 // the next block and the size of this one
	for block := at(header + 1); block != 0; {
		if block < content || block+blockHeader > len(page) {
			return nil
		}
		next, end := at(block), block+at(block+2)
		if end < block+blockHeader || end > len(page) || next != 0 && next < end {
			return nil
		}
		found = append(found, gap{block + blockHeader, end})
		block = next
	}
	return found
}
