package text

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kljensen/snowball/english"
)

// The cache returns the stemmer's results even if many words share slots and many
// goroutines use it.
func TestStem_EqualsStemmer(t *testing.T) {
	t.Parallel()
	words := []string{
		"the", "running", "universities", "generously", "naïve", "привет", "skies", "b",
		strings.Repeat("longest", 9) + "ly",
	}
	for i := range 4 * len(stems) {
		word := fmt.Sprintf("%cword%cness", 'a'+i%26, 'a'+i/26%26)
		words = append(words, word+strings.Repeat("ing", i%3)+string(rune('a'+i/676%26)))
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for _, word := range words {
				want := english.Stem(word, true)
				if english.IsStopWord(word) {
					want = ""
				}
				if got := stem(word); got != want {
					t.Errorf("the stem of %q is %q, want %q", word, got, want)
				}
			}
		})
	}
	readers.Wait()
}
