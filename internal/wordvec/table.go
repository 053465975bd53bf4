package wordvec

import (
	_ "embed"
	"encoding/binary"
	"strings"
	"sync"

	"hippocampus/internal/wordpiece"
)

// meaningDim is the length of a row.
const meaningDim = 256

// unitLength is the scaled length of an average word's row.
const unitLength = 1 << 20

// tableBytes is a row of int8 for each piece, and then a uint16 for each piece, the
// factor of its row. scripts/distill makes it and the vocabulary.
//
//go:embed table.bin
var tableBytes string

// vocabulary has one piece on each line, frequent pieces first.
//
//go:embed vocabulary.txt
var vocabulary string

// table maps pieces to their meanings.
type table struct {
	*wordpiece.Vocabulary
	rows   string  // meaningDim numbers of type int8 for each piece
	scales []int64 // by piece; 0: the piece has no meaning
}

// loadTable reads the table once, when the first embedder is made.
var loadTable = sync.OnceValue(func() *table {
	names := strings.Split(strings.TrimSuffix(vocabulary, "\n"), "\n")
	t := &table{
		Vocabulary: wordpiece.New(names),
		rows:       tableBytes[:len(names)*meaningDim],
		scales:     make([]int64, len(names)),
	}
	scales := tableBytes[len(t.rows):]
	for i := range names {
		t.scales[i] = int64(binary.LittleEndian.Uint16([]byte(scales[2*i : 2*i+2])))
	}
	return t
})

// Rank returns how many words are more frequent than a word in the English texts that the table was made of: the least
// rank of its forms, such as the word and its stem, and the number of all words for a word that is not in the table.
func Rank(forms ...string) int {
	t := loadTable()
	rank := int32(len(t.scales))
	for _, form := range forms {
		if n, known := t.Number(strings.ToLower(form)); known {
			rank = min(rank, n)
		}
	}
	first, _ := t.Number(mostFrequent)
	return int(max(0, rank-first))
}

// mostFrequent is the most frequent word. Single characters and marks precede it in the vocabulary.
const mostFrequent = "the"

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
