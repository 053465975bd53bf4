package statement

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// classes is the number of memory.Domains. The class of general_chat is that of sentences that are no statement.
const classes = 6

// noStatement is the place of general_chat in memory.Domains.
const noStatement = 0

// distribution has one number for each of memory.Domains.
type distribution [classes]float64

// Model has a weight of each feature for each class.
type Model struct {
	words   map[string]distribution
	meaning []distribution // by number of the embedding; English only
}

// unit is a weight of 1 in a file of weights.
const unit = 100

var (
	//go:embed weights_en.tsv
	englishWeights string
	//go:embed weights_zh.tsv
	chineseWeights string

	loadEnglish = sync.OnceValue(func() *Model { return mustLoad(englishWeights) })
	loadChinese = sync.OnceValue(func() *Model { return mustLoad(chineseWeights) })
)

// mustLoad reads what Encode writes.
func mustLoad(encoded string) *Model {
	m := &Model{words: make(map[string]distribution, strings.Count(encoded, "\n"))}
	for line := range strings.Lines(encoded) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		var w distribution
		for i := range w {
			n, err := strconv.Atoi(fields[1+i])
			if err != nil {
				panic(fmt.Errorf("read the weights of %q: %w", fields[0], err)) // the file is embedded
			}
			w[i] = float64(n) / unit
		}
		if fields[0] == meaningName {
			m.meaning = append(m.meaning, w)
		} else {
			m.words[fields[0]] = w
		}
	}
	return m
}

// meaningName stands in a file of weights for each number of the embedding, in order.
const meaningName = "<meaning>"

// Encode returns the weights, one feature a line: its name and a whole number for each of memory.Domains.
func (m *Model) Encode() []byte {
	var b bytes.Buffer
	row := func(name string, w distribution) {
		b.WriteString(name)
		for _, x := range w {
			fmt.Fprintf(&b, "\t%d", int(math.Round(x*unit)))
		}
		b.WriteByte('\n')
	}
	for _, w := range m.meaning {
		row(meaningName, w)
	}
	for _, name := range slices.Sorted(maps.Keys(m.words)) {
		if w := m.words[name]; slices.ContainsFunc(w[:], func(x float64) bool { return math.Abs(x) >= negligible }) {
			row(name, w)
		}
	}
	return b.Bytes()
}

func (m *Model) probabilities(f features) (p distribution) {
	for _, name := range f.words {
		if w, ok := m.words[name]; ok {
			p.add(&w, f.weight())
		}
	}
	for i := range m.meaning {
		p.add(&m.meaning[i], float64(f.meaning[i])*meaningLength)
	}
	return p.softmax()
}

func (d *distribution) add(w *distribution, times float64) {
	for i := range d {
		d[i] += w[i] * times
	}
}

// softmax returns the probabilities of classes with these logits.
func (d distribution) softmax() distribution {
	greatest, sum := slices.Max(d[:]), 0.0
	for i := range d {
		d[i] = math.Exp(d[i] - greatest)
		sum += d[i]
	}
	for i := range d {
		d[i] /= sum
	}
	return d
}
