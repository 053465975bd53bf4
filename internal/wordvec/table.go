package wordvec

import (
	_ "embed"
	"encoding/binary"
	"strings"
	"sync"
)

// meaningDim is the length of a row.
const meaningDim = 256

// unitLength is the integer that stands for the length of a middling word's row.
const unitLength = 1 << 20

// tableBytes hold a row of int8 for each piece, then a uint16 for each, by which
// its row is multiplied. scripts/distill makes them and the vocabulary.
//
//go:embed table.bin
var tableBytes string

// vocabulary holds a piece a line, the frequent ones first.
//
//go:embed vocabulary.txt
var vocabulary string

// table says what pieces mean.
type table struct {
	pieces
	rows   string  // int8, meaningDim a piece
	scales []int64 // one a piece; 0: the piece means nothing
}

// theTable is read once, when the first embedder is made.
var theTable = sync.OnceValue(func() *table {
	names := strings.Split(strings.TrimSuffix(vocabulary, "\n"), "\n")
	t := &table{
		pieces: pieces{initial: make(map[string]int32, len(names)), inner: make(map[string]int32, len(names)/4)},
		rows:   tableBytes[:len(names)*meaningDim],
		scales: make([]int64, len(names)),
	}
	scales := tableBytes[len(t.rows):]
	for i, name := range names {
		t.scales[i] = int64(binary.LittleEndian.Uint16([]byte(scales[2*i : 2*i+2])))
		known := t.initial
		if rest, ok := strings.CutPrefix(name, "##"); ok && rest != "" {
			known, name = t.inner, rest
		}
		known[name] = int32(i)
		t.longest = max(t.longest, len(name))
	}
	return t
})

// add adds the row of a piece to sum.
func (t *table) add(sum *[meaningDim]int64, piece int32) {
	scale := t.scales[piece]
	if scale == 0 {
		return
	}
	row := t.rows[int(piece)*meaningDim:][:meaningDim]
	for i := range sum {
		sum[i] += int64(int8(row[i])) * scale
	}
}
