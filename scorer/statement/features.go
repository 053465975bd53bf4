package statement

import (
	"cmp"
	"context"
	_ "embed"
	"math"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"hippocampus/internal/llm"
	"hippocampus/internal/text"
	"hippocampus/internal/wordvec"
)

// features are what a model has weights for.
type features struct {
	words    []string  // distinct: words, classes of words, pairs of neighbours, the first three
	meaning  []float32 // of an English sentence
	sentence []word    // the words of the sentence
}

// The lengths of the vectors of a sentence's words and of its meaning. They set how much the weights of either may
// change during training. The values have the best results of cross-validation.
const (
	wordsLength   = 3
	meaningLength = 10
)

// weight is the weight of each word, which is lower in a long sentence.
func (f features) weight() float64 { return wordsLength / math.Sqrt(float64(len(f.words))) }

// featuresOf returns the features of a sentence: "My son is five" has my, <kin>, son, is, five, "^ my", "my <kin>",
// "<kin> is", "is five", "five $" and "^ my <kin>".
func featuresOf(sentence string) features {
	var f features
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			f.words = append(f.words, name)
		}
	}
	before, first := "^", ""
	f.sentence = wordsOf(sentence)
	for i, w := range f.sentence {
		add(w.word)
		add(w.class)
		add(before + " " + w.class)
		switch i {
		case 0:
			first = "^ " + w.class
		case 1:
			add(first + " " + w.class)
		}
		before = w.class
	}
	add(before + " $")
	if !text.IsChinese(sentence) {
		vectors, err := embedder().Embed(context.Background(), llm.ForQuery, []string{sentence})
		if err == nil { // always: the only error is that the context has ended
			f.meaning = vectors[0][:meaningDim]
		}
	}
	return f
}

// meaningDim is how many numbers of a built-in embedding represent the meaning of English words.
const meaningDim = 256

var embedder = sync.OnceValue(wordvec.New)

// nameClass is the class of a word that is taken for a name.
const nameClass = "<name>"

// word is a word of a sentence, in lower case: letters of a script with word boundaries, a Chinese character or a
// Chinese word of a class, "#" for digits, or a mark.
type word struct {
	word  string
	class string // "<kin>"; "<name>" for an upper-case word within a sentence; else the word
}

// contractions are the words that an apostrophe shortens, so that "I'm allergic" and "I am allergic" are the same.
var contractions = map[string]string{"m": "am", "re": "are", "ve": "have", "ll": "will"}

// wordsOf splits a sentence. "n't", and the part after another apostrophe, become words: don't -> do not, I'm -> i am,
// Ada's -> ada 's.
func wordsOf(sentence string) (words []word) {
	chars := []rune(plainMarks.Replace(sentence))
	add := func(w string, class string) {
		if class == "" {
			class = w
		}
		words = append(words, word{w, class})
	}
	for i := 0; i < len(chars); {
		r, start := chars[i], i
		switch {
		case unicode.Is(unicode.Han, r):
			i++
			for n := min(classOf.longest, len(chars)-start); n > 1; n-- {
				if classOf.words[string(chars[start:start+n])] != "" {
					i = start + n
					break
				}
			}
			w := string(chars[start:i])
			add(w, classOf.words[w])
		case unicode.IsDigit(r):
			for i < len(chars) && unicode.IsDigit(chars[i]) {
				i++
			}
			add("#", "")
		case unicode.IsLetter(r):
			for i < len(chars) && (isLetter(chars[i]) || joins(chars, i)) {
				i++
			}
			lower := strings.ToLower(string(chars[start:i]))
			stem, negated := strings.CutSuffix(lower, "n't")
			if lower == "can't" {
				stem = "can"
			}
			stem, rest, _ := strings.Cut(stem, "'")
			class := classOf.words[stem]
			if class == "" && start > 0 && unicode.IsUpper(r) && stem != "i" {
				class = nameClass
			}
			add(stem, class)
			if rest != "" {
				rest = cmp.Or(contractions[rest], "'"+rest)
				add(rest, classOf.words[rest])
			}
			if negated {
				add("not", "")
			}
		case unicode.IsSpace(r):
			i++
		default:
			i++
			add(string(r), "")
		}
	}
	return words
}

func isLetter(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Han, r) }

// joins reports whether chars[i] is an apostrophe or a hyphen within a word.
func joins(chars []rune, i int) bool {
	return (chars[i] == '\'' || chars[i] == '-') && i+1 < len(chars) && isLetter(chars[i+1])
}

var plainMarks = strings.NewReplacer("’", "'", "‘", "'", "`", "'", "“", `"`, "”", `"`, "「", `"`, "」", `"`,
	"，", ",", "。", ".", "！", "!", "？", "?", "：", ":", "；", ";")

//go:embed words.txt
var wordsFile string

// classOf maps the words of words.txt to their classes.
var classOf = func() (c struct {
	words   map[string]string
	longest int // characters of the longest Chinese word
}) {
	c.words = map[string]string{}
	for line := range strings.Lines(wordsFile) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		class, words, _ := strings.Cut(line, ": ")
		for _, w := range strings.Fields(words) {
			c.words[w] = "<" + class + ">"
			if w[0] >= utf8.RuneSelf {
				c.longest = max(c.longest, utf8.RuneCountInString(w))
			}
		}
	}
	return c
}()
