package compression

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/memory"
)

// at is a memory at an angle, in degrees.
func at(name string, degrees float64) memory.Memory {
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	return memory.Memory{ID: name, Content: name, Embedding: []float32{float32(cos), float32(sin)}}
}

func names(found [][]memory.Memory) (all []string) {
	for _, group := range found {
		all = append(all, strings.Join(memory.IDs(group), ""))
	}
	return all
}

func TestGroups_CollectRelatedMemories(t *testing.T) {
	t.Parallel()
	other := func(m memory.Memory, agent, model string) memory.Memory {
		m.AgentID, m.EmbeddingModel = agent, model
		return m
	}
	long := func(m memory.Memory) memory.Memory { m.Content = strings.Repeat("a", 4096); return m }
	crowd := []memory.Memory{at("+", 0)}
	for i := range 25 { // the later, the nearer
		crowd = append(crowd, at(string(rune('a'+i)), float64(25-i)))
	}
	for name, test := range map[string]struct {
		memories []memory.Memory
		want     []string
	}{
		"none":         {nil, nil},
		"two are none": {[]memory.Memory{at("a", 0), at("b", 1)}, nil},
		"in order":     {[]memory.Memory{at("a", 0), at("b", 50), at("c", 10)}, []string{"abc"}},
		"too far":      {[]memory.Memory{at("a", 0), at("b", 60), at("c", 10)}, nil},
		"two groups": {[]memory.Memory{at("a", 0), at("p", 90), at("b", 1), at("q", 91), at("c", 2), at("r", 92)},
			[]string{"abc", "pqr"}},
		"a seed that gathers too few leaves them to others": {[]memory.Memory{at("a", 0), at("b", 50), at("c", 60),
			at("d", 70)}, []string{"bcd"}},
		"agents apart": {[]memory.Memory{other(at("a", 0), "x", ""), at("b", 0), at("c", 0), at("d", 0)},
			[]string{"bcd"}},
		"models apart": {[]memory.Memory{at("a", 0), other(at("b", 0), "", "m"), at("c", 0), other(at("d", 0), "", "m"),
			at("e", 0)}, []string{"ace"}},
		"the nearest 20": {crowd, []string{"+ghijklmnopqrstuvwxy", "abcdef"}},
		"a prompt's room": {[]memory.Memory{long(at("a", 0)), long(at("b", 6)), long(at("c", 5)), long(at("d", 4)),
			long(at("e", 3)), long(at("f", 2))}, []string{"acdef"}},
		"opposites differ": {[]memory.Memory{at("a", 0), at("b", 180), at("c", 180)}, nil},
	} {
		for range 3 { // the same each time
			if diff := cmp.Diff(test.want, names(groups(test.memories, 0.6))); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// The largest run that the default settings allow.
func BenchmarkGroups(b *testing.B) {
	memories := make([]memory.Memory, 2000)
	for i := range memories {
		v := make([]float32, 512)
		v[i%512] = 1
		memories[i] = memory.Memory{ID: fmt.Sprint(i), Content: "a", Embedding: v}
	}
	for b.Loop() {
		groups(memories, 0.6)
	}
}
