package milvus

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"hippocampus/vectorstore"
)

// A message holds at most 1,000 records and 32 MiB. A record counts as its
// content, four bytes for each number of its vector, and 1 KiB.
func TestMessages_RespectLimits(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("中", 4096) // 12 KiB
	for _, test := range []struct {
		records int
		content string
		dim     int
		want    []int
	}{
		{0, "", 512, nil},
		{1, "short", 512, []int{1}},
		{1000, "short", 512, []int{1000}},
		{2001, "short", 512, []int{1000, 1000, 1}},
		{1000, longest, 512, []int{1000}},                         // of 15 KiB: 2,184 would fit
		{1000, longest, 4864, []int{1000}},                        // of 32 KiB: 1,024 would fit
		{2500, longest, 12 << 10, []int{537, 537, 537, 537, 352}}, // of 61 KiB
		{3, "short", 9 << 20, []int{1, 1, 1}},                     // each is too large: Milvus refuses them
	} {
		records := make([]vectorstore.Record, test.records)
		embedding := make([]float32, test.dim)
		for i := range records {
			records[i] = vectorstore.Record{ID: fmt.Sprint(i), Content: test.content, Embedding: embedding}
		}
		var got []int
		var sent []string
		for part := range messages(records) {
			got = append(got, len(part))
			for _, r := range part {
				sent = append(sent, r.ID)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%d records of %d bytes and %d numbers are messages of %v, want %v",
				test.records, len(test.content), test.dim, got, test.want)
		}
		if len(sent) != len(records) {
			t.Fatalf("%d of %d records are sent", len(sent), len(records))
		}
		for i, id := range sent {
			if id != records[i].ID {
				t.Fatalf("record %s is sent as number %d", id, i)
			}
		}
	}
	for range messages(make([]vectorstore.Record, 3000)) {
		break // an error in one message stops the iteration
	}
}
