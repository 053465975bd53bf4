package statement

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Example is a labelled sentence.
type Example struct {
	Sentence string
	Label    string        // Fact, Content or Other
	Domain   memory.Domain // general_chat for Other
}

// The labels of sentences.
const (
	Fact    = "fact"    // a statement about its speaker
	Content = "content" // the content of a memory, about anyone: it trains the domain, but not whether it is a statement
	Other   = "other"   // no statement about its speaker
)

// ParseExample reads a line of training/: label, kind and sentence. The kind of Fact and Content is a domain.
func ParseExample(line string) (Example, error) {
	fields := strings.SplitN(strings.TrimSpace(line), "\t", 3)
	if len(fields) < 3 {
		return Example{}, fmt.Errorf("%q has not three fields", line)
	}
	e := Example{Sentence: fields[2], Label: fields[0], Domain: memory.GeneralChat}
	switch {
	case e.Label == Other:
	case slices.Contains(memory.Domains, memory.Domain(fields[1])):
		e.Domain = memory.Domain(fields[1])
	default:
		return Example{}, fmt.Errorf("%q has no known domain", line)
	}
	return e, nil
}

// Language returns the language whose model reads the sentence: "en" or "zh".
func (e Example) Language() string {
	if text.IsChinese(e.Sentence) {
		return "zh"
	}
	return "en"
}

// Parameters of the training, chosen by cross-validation.
const (
	epochs      = 40     // passes over the examples
	rate        = 0.2    // of the first step
	decay       = 0.0005 // pull of a word's weights to 0 in each step
	decayDim    = 0.001  // of the weights of the meaning
	leastRows   = 2      // examples with a word, else it gets no weight
	negligible  = 0.05   // a word with smaller weights is left out
	randomOrder = 1      // seed
)

// Train returns the softmax regression on examples of one language, trained in steps of one example each (AdaGrad:
// Duchi, Hazan and Singer, JMLR 2011). Equal examples give equal weights.
func Train(examples []Example) *Model {
	rows := make([]features, len(examples))
	count := map[string]int{}
	for i, e := range examples {
		rows[i] = featuresOf(e.Sentence)
		for _, name := range rows[i].words {
			count[name]++
		}
	}
	learners := map[string]*learner{}
	for name, n := range count {
		if n >= leastRows {
			learners[name] = &learner{decay: decay}
		}
	}
	meaning := make([]learner, len(rows[0].meaning))
	for i := range meaning {
		meaning[i].decay = decayDim
	}
	random := rand.New(rand.NewPCG(randomOrder, randomOrder))
	for range epochs {
		for _, i := range random.Perm(len(rows)) {
			f, weight := rows[i], rows[i].weight()
			var known []*learner
			var p distribution
			for _, name := range f.words {
				if l := learners[name]; l != nil {
					known = append(known, l)
					p.add(&l.weights, weight)
				}
			}
			for j, x := range f.meaning {
				p.add(&meaning[j].weights, float64(x)*meaningLength)
			}
			if examples[i].Label == Content {
				p[noStatement] = math.Inf(-1) // probability 0
			}
			missed := p.softmax()
			missed[slices.Index(memory.Domains, examples[i].Domain)]--
			for _, l := range known {
				l.learn(&missed, weight)
			}
			for j, x := range f.meaning {
				meaning[j].learn(&missed, float64(x)*meaningLength)
			}
		}
	}
	m := &Model{words: map[string]distribution{}}
	for name, l := range learners {
		m.words[name] = l.weights
	}
	for _, l := range meaning {
		m.meaning = append(m.meaning, l.weights)
	}
	return m
}

// learner holds the weights of a feature during training.
type learner struct {
	weights, squares distribution // squares: sums of the squared gradients
	decay            float64
}

// learn takes a step against the gradient.
func (l *learner) learn(missed *distribution, value float64) {
	for i := range l.weights {
		gradient := missed[i]*value + l.decay*l.weights[i]
		l.squares[i] += gradient * gradient
		l.weights[i] -= rate * gradient / math.Sqrt(l.squares[i]+1e-6)
	}
}
