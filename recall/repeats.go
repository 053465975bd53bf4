package recall

import (
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// repeatOf returns a hash. Messages of one speaker have the same hash if they say the same words and answer the same;
// case, spaces and the marks at the end do not count. It returns 0 for memories that are not messages.
func repeatOf(d *db.Document) uint64 {
	if d.Type != memory.TypeMessage {
		return 0
	}
	words := strings.Join(strings.Fields(strings.ToLower(d.Content)), " ")
	words = strings.TrimRight(words, " .!?。！？")
	if words == "" {
		return 0
	}
	return max(1, xxhash.Sum64String(words+"\x00"+d.Speaker+"\x00"+d.Asked))
}

// foldRepeats makes one item of messages that repeat each other: the most relevant one, of equally relevant ones the
// latest.
func foldRepeats(list []relevant, x *index, onFold func(dropped relevant, by string)) []relevant {
	type key struct {
		repeat uint64
		former bool
	}
	keyOf := func(r *relevant) key { return key{x.docs[r.doc].repeat, r.former != nil} }
	best := map[key]int{} // places in the list
	for i := range list {
		k := keyOf(&list[i])
		if k.repeat == 0 {
			continue
		}
		b, known := best[k]
		if !known || list[i].relevance > list[b].relevance || list[i].relevance == list[b].relevance &&
			x.docs[list[i].doc].created > x.docs[list[b].doc].created {
			best[k] = i
		}
	}
	return slices.DeleteFunc(list, func(r relevant) bool {
		b, known := best[keyOf(&r)]
		if !known || list[b].id == r.id {
			return false
		}
		if onFold != nil {
			onFold(r, list[b].id)
		}
		return true
	})
}

// Repeats is how often a message was said in the same words.
type Repeats struct {
	Times int       // 2 or more; 0: once
	Last  time.Time // when it was said last
}

// countRepeats notes in each message how often it occurs among the open documents.
func (x *index) countRepeats(recalled []Recalled, open []bool) {
	places := map[uint64]int{} // in recalled
	for i := range recalled {
		if doc, known := x.place(recalled[i].Memory.ID); known && x.docs[doc].repeat != 0 {
			places[x.docs[doc].repeat] = i
		}
	}
	if len(places) == 0 {
		return
	}
	for doc := range x.docs {
		d := &x.docs[doc]
		if d.repeat == 0 || !open[doc] {
			continue
		}
		if i, found := places[d.repeat]; found {
			r := &recalled[i].Repeats
			r.Times++
			if at := d.createdAt(); at.After(r.Last) {
				r.Last = at
			}
		}
	}
	for _, i := range places {
		if recalled[i].Repeats.Times < 2 {
			recalled[i].Repeats = Repeats{}
		}
	}
}
