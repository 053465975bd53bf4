package wordvec

import (
	"math"
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/llm"
)

func embed(t testing.TB, use llm.Use, text string) []float32 {
	t.Helper()
	vectors, err := New().Embed(t.Context(), use, []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return vectors[0]
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestTable_FitsVocabulary(t *testing.T) {
	t.Parallel()
	if n := len(tableBytes); n > 8_000_000 {
		t.Errorf("the table has %d bytes, want at most 8 MB", n)
	}
	if got, want := len(tableBytes), len(loadTable().scales)*(meaningDim+2); got != want {
		t.Errorf("the table has %d bytes, the vocabulary needs %d: run scripts/distill", got, want)
	}
}

func TestEmbed_ReturnsUnitVectors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " ", "!?", "😀", "2023", "the", "我", "我喜欢茶", "Привет", "xqzjkvw", "a\xff",
		"I paint on Sundays.", "我在用Go语言", strings.Repeat("long ", 10_000), strings.Repeat("x", 10_000)} {
		for _, use := range []llm.Use{llm.ForDocument, llm.ForQuery} {
			v := embed(t, use, text)
			if len(v) != Dim || math.Abs(dot(v, v)-1) > 1e-6 {
				t.Errorf("use %d of %.20q: %d numbers of squared length %v, want %d of 1",
					use, text, len(v), dot(v, v), Dim)
			}
			if !slices.Equal(v, embed(t, use, text)) {
				t.Errorf("use %d of %.20q has two vectors", use, text)
			}
		}
	}
}

func TestEmbed_QueriesAreNearestToMeaning(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, near, far string }{
		{"Does she have a dog?", "Ann adopted a puppy last spring.", "Ann painted the kitchen last spring."},
		{"Where do they go on vacation?", "We booked a holiday at the beach.", "We booked a table for the meeting."},
		{"What is his job?", "Tom works as an engineer in a factory.", "Tom reads a novel in the garden."},
		{"Is he ill?", "Bob went to the hospital with a fever.", "Bob went to the market with a bag."},
		{"What instrument does she play?", "I practise the violin every evening.", "I practise my Spanish every evening."},
		{"她养什么宠物？", "我家的宠物是一只橘猫。", "我在杭州当工程师。"},
		{"他用什么语言？", "工作中主要用Go语言。", "周末去爬山了。"},
		{"Who owns item1x?", "The user owns item1x from shop1.", "The user owns item108x from shop108."},
		{"Где живёт Анна?", "Анна живёт в Москве.", "Пётр любит чай."},
	} {
		query := embed(t, llm.ForQuery, test.query)
		near, far := dot(query, embed(t, llm.ForDocument, test.near)), dot(query, embed(t, llm.ForDocument, test.far))
		if near <= far {
			t.Errorf("%q: %q has %.3f, %q has %.3f", test.query, test.near, near, test.far, far)
		}
	}
}

// Two memories with a cosine of at least 0.95 may be merged.
func TestEmbed_SeparatesDifferentDocuments(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Tom owes Ann fifty dollars.", "Ann owes Tom fifty dollars."},
		{"I like tea.", "I do not like tea."},
		{"I like tea.", "I like coffee."},
		{"yes", "no"},
		{"The meeting is on 3 May 2024.", "The meeting is on 4 May 2024."},
		{"我喜欢喝茶", "我不喜欢喝茶"},
		{"!", "?"},
	} {
		c := dot(embed(t, llm.ForDocument, pair[0]), embed(t, llm.ForDocument, pair[1]))
		if c >= 0.95 {
			t.Errorf("%q and %q have cosine %.3f", pair[0], pair[1], c)
		}
	}
	if c := dot(embed(t, llm.ForDocument, "I like tea."), embed(t, llm.ForDocument, "i like  TEA")); c < 0.999 {
		t.Errorf("case, spaces and marks change a document: cosine %.3f", c)
	}
}

// A document of few words is similar to no query.
func TestEmbed_ShortDocumentsAreFar(t *testing.T) {
	t.Parallel()
	query := embed(t, llm.ForQuery, "What did Ann cook for dinner?")
	short := embed(t, llm.ForDocument, "Ann: Great!")
	full := embed(t, llm.ForDocument, "Ann: I made lasagne with fresh tomatoes and basil tonight.")
	if dot(query, short) >= dot(query, full) {
		t.Errorf("short %.3f, full %.3f", dot(query, short), dot(query, full))
	}
}

const twentyWords = "[2023-05-08] Caroline: I went to a support group yesterday " +
	"and it was so powerful that I cried with joy there."

func TestEmbed_AllocatesOnlyItsResult(t *testing.T) {
	e, texts := New(), []string{twentyWords, "我在上海做后端 naïve Łódź"}
	if got := testing.AllocsPerRun(200, func() { e.Embed(t.Context(), llm.ForDocument, texts) }); got > 3 {
		t.Errorf("%v allocations for two texts, want 3: the list and two vectors", got)
	}
}

func BenchmarkEmbed(b *testing.B) {
	e, texts := New(), []string{twentyWords}
	b.ReportAllocs()
	for b.Loop() {
		e.Embed(b.Context(), llm.ForDocument, texts)
	}
}
