// Package content makes the memories of a measured server, the same in every run: texts of
// made-up words with the frequencies of a natural language, or given texts.
package content

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"hippocampus/cmd/bench/target"
)

// Data is the content of a server: a number of users with a number of memories each.
type Data struct {
	Users, Each int
	Tag         string // of every hundredth memory; may be empty
	Texts       Texts  // empty: made of syllables
}

// Texts are contents of memories and queries from real conversations.
type Texts struct{ Contents, Queries []string }

// Parse reads "USERSxMEMORIES", such as 1000x100.
func Parse(text string) (Data, error) {
	var d Data
	if n, err := fmt.Sscanf(text, "%dx%d", &d.Users, &d.Each); n != 2 || err != nil || d.Users < 1 || d.Each < 1 {
		return d, fmt.Errorf("%q is not USERSxMEMORIES, such as 1000x100", text)
	}
	return d, nil
}

// Of is the inverse of Data.String.
func Of(text string) (d Data, err error) {
	if _, err = fmt.Sscanf(text, dataForm, &d.Users, &d.Each); err != nil {
		err = fmt.Errorf("%q is not of the form %q: %w", text, dataForm, err)
	}
	return d, err
}

func (d Data) String() string { return fmt.Sprintf(dataForm, d.Users, d.Each) }

const dataForm = "%d users of %d"

// Memories is the number of memories of all users.
func (d Data) Memories() int { return d.Users * d.Each }

// User is the id of the i-th user.
func (d Data) User(i int) string { return fmt.Sprintf("u%06d", i) }

// Start is the time of the first memory; the others follow at intervals of a minute.
var Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Memory is the j-th memory of the i-th user, always the same.
func (d Data) Memory(i, j int) target.Memory {
	random := rand.New(rand.NewPCG(uint64(i), uint64(j)))
	at := Start.Add(time.Duration(j) * time.Minute)
	m := target.Memory{
		UserID: d.User(i), Content: Sentence(random, 12+random.IntN(10)), Importance: 0.7 + 0.3*random.Float64(),
		At: at.Format(time.RFC3339), ConversationID: fmt.Sprint("c", j/20),
	}
	if n := len(d.Texts.Contents); n > 0 {
		// The time distinguishes contents that a user has several times.
		m.Content = fmt.Sprintf("[%s] %s", at.Format("2006-01-02 15:04"), d.Texts.Contents[(i*101+j)%n])
	}
	if d.Tag != "" && j%100 == 0 {
		m.Tags = []string{d.Tag}
	}
	return m
}

// All are the memories of all users.
func (d Data) All() iter.Seq[target.Memory] {
	return func(yield func(target.Memory) bool) {
		for i := range d.Users {
			for j := range d.Each {
				if !yield(d.Memory(i, j)) {
					return
				}
			}
		}
	}
}

// Query is the k-th query about these texts.
func (d Data) Query(k int) string {
	if n := len(d.Texts.Queries); n > 0 {
		return d.Texts.Queries[k%n]
	}
	return Query(k)
}

// Query is the k-th query about memories of syllables.
func Query(k int) string {
	return Sentence(rand.New(rand.NewPCG(uint64(k), math.MaxUint64)), 7)
}

// Sentence makes a sentence of words with the frequencies of a natural language.
func Sentence(random *rand.Rand, words int) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		// Zipf's law by inversion: rank r has a probability of about 1/r.
		b.WriteString(Word(int(math.Exp(random.Float64() * math.Log(20_000)))))
	}
	return b.String()
}

// Word spells a number in syllables, so that all words have different stems.
func Word(n int) string {
	const first, second = "bdfgklmnprstvz", "aeiou"
	var b strings.Builder
	for n += 14 * 5; n > 0; n /= 14 * 5 {
		b.WriteByte(first[n%14])
		b.WriteByte(second[n/14%5])
	}
	return b.String() + "k"
}

// Statement is the n-th message in which rules find a fact. It states no single attribute,
// such as a home, so that nothing is superseded.
func Statement(n int) string {
	random := rand.New(rand.NewPCG(uint64(n), 13))
	some := func() string { return Word(random.IntN(20_000)) }
	return fmt.Sprintf("I like the %s of %s, and I collect %s from %s.", some(), some(), some(), some())
}
