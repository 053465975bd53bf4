package vectorstore

import (
	"strings"
)

// pageSize is how many records a scan reads at once: 16 MB of the longest contents.
const pageSize = 1000

// ScanPages implements Store.Scan for a store that reads its records, in id
// order, by pages of at most limit records after an id. It calls f between two
// reads, so that f may write to the store.
func ScanPages(
	after string, limit int,
	read func(after string, limit int) ([]Record, error),
	f func(Record) error,
) error {
	if err := checkScan(after, limit); err != nil {
		return err
	}
	for limit > 0 {
		page, err := read(after, min(limit, pageSize))
		if err != nil {
			return err
		}
		for _, r := range page {
			if err := f(r); err != nil {
				return err
			}
			after = r.ID
		}
		if len(page) < pageSize {
			return nil
		}
		limit -= len(page)
	}
	return nil
}

// Slug makes part of a file's, table's or collection's name from a model's
// name: at most maxBytes letters, digits and characters of extra. Every other
// character becomes filler.
func Slug(model string, maxBytes int, extra string, filler rune) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(extra, r):
			return r
		}
		return filler
	}, model)
	return slug[:min(len(slug), maxBytes)]
}
