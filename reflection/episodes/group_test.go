package episodes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "hippocampus/internal/rapidtest"
)

var begin = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// drawn draws statements of some subjects over a time, each with a vector near that of its subject.
func drawn(t *rapid.T, prefix string, from time.Time, days int) []item {
	subjects := []string{"garden tomatoes beds", "marathon training shoes", "billing invoices launch", "猫 疫苗 医院"}
	n := rapid.IntRange(0, 40).Draw(t, prefix+" statements")
	items := make([]item, n)
	for i := range items {
		subject := rapid.IntRange(0, len(subjects)-1).Draw(t, "subject")
		words := strings.Fields(subjects[subject])
		vector := make([]float32, 8)
		vector[subject] = 1
		vector[4+rapid.IntRange(0, 3).Draw(t, "aside")] = 0.5
		length := float32(math.Sqrt(1.25))
		for k := range vector {
			vector[k] /= length
		}
		items[i] = item{
			id: fmt.Sprintf("%s%03d", prefix, i), embedding: vector,
			at: from.Add(time.Duration(rapid.IntRange(0, days*24*60).Draw(t, "minute")) * time.Minute),
			content: fmt.Sprintf("%s %s %d", words[rapid.IntRange(0, 2).Draw(t, "word")],
				words[rapid.IntRange(0, 2).Draw(t, "other word")], i),
		}
	}
	return items
}

func idsOf(groups [][]item) [][]string {
	all := [][]string{}
	for _, g := range groups {
		ids := make([]string, len(g))
		for i, it := range g {
			ids[i] = it.id
		}
		all = append(all, ids)
	}
	return all
}

// The order of arrival changes nothing, a statement is in one episode at most, and the bounds of an episode hold.
func TestGroup_DependsOnTheStatementsAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := drawn(t, "a", begin, 200)
		groups := group(items, ranges)
		rest := slices.Clone(items)
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
		if diff := cmp.Diff(idsOf(groups), idsOf(group(rest, ranges))); diff != "" {
			t.Fatalf("in another order (-before +after):\n%s", diff)
		}
		seen := map[string]bool{}
		for _, g := range groups {
			if len(g) < minMembers || g[len(g)-1].at.Sub(g[0].at) > maxSpan {
				t.Fatalf("an episode of %d statements, %s to %s", len(g), g[0].at, g[len(g)-1].at)
			}
			for i, it := range g {
				if seen[it.id] {
					t.Fatalf("%s is in two episodes", it.id)
				}
				seen[it.id] = true
				if i > 0 && it.at.Sub(g[i-1].at) > window {
					t.Fatalf("a pause from %s until %s", g[i-1].at, it.at)
				}
			}
		}
	})
}

// What is added changes no episode that is separated from it by a pause of the length of the window.
func TestGroup_ChangesNearbyEpisodesOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := drawn(t, "a", begin, 60)
		after := drawn(t, "b", begin.Add(60*24*time.Hour+window+time.Minute), 60)
		added := drawn(t, "c", begin, 60)
		apart := slices.Concat(group(before, ranges), group(after, ranges))
		if diff := cmp.Diff(idsOf(apart), idsOf(group(slices.Concat(after, before), ranges))); diff != "" {
			t.Fatalf("together (-apart +together):\n%s", diff)
		}
		late := idsOf(group(slices.Concat(before, added, after), ranges))
		late = slices.DeleteFunc(late, func(ids []string) bool { return ids[0][0] != 'b' })
		if diff := cmp.Diff(idsOf(group(after, ranges)), late); diff != "" {
			t.Fatalf("what was added earlier changes later episodes (-before +after):\n%s", diff)
		}
	})
}

// Episodes of one subject are a theme.
func TestThemes_AreOfSimilarEpisodes(t *testing.T) {
	t.Parallel()
	items, expected := life(t, "life_en")
	groups := group(items, ranges)
	var themes [][]string
	for _, theme := range themesOf(groups, items, ranges) {
		var names []string
		for _, i := range theme {
			names = append(names, expected[groups[i][0].id])
		}
		themes = append(themes, names)
	}
	if diff := cmp.Diff([][]string{{"house", "move", "garden"}}, themes); diff != "" {
		t.Errorf("themes (-want +got):\n%s", diff)
	}
}

func TestTerms_ReadWell(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"life_en":  {"Half marathon, training run, kilometres", "Kyoto, Tokyo, Japan", "Biscuit, puppy"},
		"life_zh":  {"云南、大理、昆明", "装修公司、瓷砖、预算", "豆包、沙发"},
		"other_zh": {"小说、悬疑", "女儿、幼儿园、老师"},
	} {
		items, _ := life(t, name)
		words := corpusOf(items)
		var titles []string
		for _, g := range group(items, ranges) {
			titles = append(titles, titleOf(words.termsOf(g)))
		}
		for _, title := range want {
			if !slices.Contains(titles, title) {
				t.Errorf("%s: no title is %q: %q", name, title, titles)
			}
		}
	}
}

func BenchmarkGroup(b *testing.B) {
	for _, n := range []int{1_000, 4_000, 16_000} {
		items, _ := life(b, "life_en")
		many := make([]item, n)
		for i := range many {
			many[i] = items[i%len(items)]
			many[i].id = fmt.Sprintf("%06d", i)
			many[i].at = begin.Add(time.Duration(i) * 2 * time.Hour)
			many[i].content = fmt.Sprintf("%s %s", many[i].content, items[(i/7)%len(items)].content)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				rowsOf(many, corpusOf(many), ranges)
			}
		})
	}
}
