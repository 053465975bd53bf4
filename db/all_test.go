package db_test

import (
	"errors"
	"slices"
	"testing"

	"hippocampus/db"
)

func TestAll_ReadsEveryPage(t *testing.T) {
	t.Parallel()
	items, pages := []int{1, 2, 3, 4, 5}, 0
	failing := errors.New("the list cannot be read")
	list := func(after, limit int) ([]int, error) {
		pages++
		if pages > 3 {
			return nil, failing
		}
		rest := items[after:]
		return rest[:min(limit, len(rest))], nil
	}
	var got []int
	for n, err := range db.All(2, list) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
	}
	if !slices.Equal(got, items) || pages != 3 {
		t.Errorf("%v in %d pages", got, pages)
	}
	for _, err := range db.All(2, list) {
		if !errors.Is(err, failing) {
			t.Errorf("%v, want %v", err, failing)
		}
	}
}
