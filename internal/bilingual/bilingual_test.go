package bilingual

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"hippocampus/internal/llm"
	_ "hippocampus/internal/rapidtest"
	"hippocampus/internal/wordvec"
)

type reporter interface {
	Helper()
	Fatal(args ...any)
}

func embed(t reporter, e llm.Embedder, use llm.Use, text string) []float32 {
	t.Helper()
	vectors, err := e.Embed(context.Background(), use, []string{text})
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

func TestEmbed_TextsWithoutHanHaveTheVectorOfWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom(nil, unicode.Latin, unicode.Katakana, unicode.Hangul, unicode.Cyrillic,
			unicode.Thai, unicode.Punct)).Draw(t, "text")
		use := rapid.SampledFrom([]llm.Use{llm.ForDocument, llm.ForQuery}).Draw(t, "use")
		if !slices.Equal(embed(t, New(), use, text), embed(t, wordvec.New(), use, text)) {
			t.Fatalf("use %d of %q has another vector", use, text)
		}
	})
}

func TestEmbed_ReturnsUnitVectors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "茶", "我在用Go语言", "東京タワーに行きました。", "漢字한글", "々〇", "𠮷", "Ann met 王芳 in 上海.",
		"茶\xff", strings.Repeat("长", 5000)} {
		for _, use := range []llm.Use{llm.ForDocument, llm.ForQuery} {
			v := embed(t, New(), use, text)
			if len(v) != Dim || math.Abs(dot(v, v)-1) > 1e-6 {
				t.Errorf("use %d of %.20q: %d numbers of squared length %v, want %d of 1", use, text, len(v), dot(v, v), Dim)
			}
		}
	}
}

func TestEmbed_QueriesAreNearestToMeaning(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ query, near, far string }{
		{"我从事什么职业？", "他在小学教音乐。", "周末去爬山了。"},
		{"哪样水果是我碰不得的？", "对芒果过敏，吃一口嘴唇就肿。", "每天骑电动车去学校。"},
		{"对象的职业是什么？", "女朋友在植物园做讲解员。", "昨晚看了河边的烟花。"},
		{"她住在哪裡？", "我们搬到台北去了。", "今天交了水费。"},
		{"Which database do we use?", "我们商定数据都存在 Postgres database 里。", "我们商定周末去爬山。"},
		{"我们用哪种数据库？", "我们商定数据都存在 Postgres 里。", "We agreed to go hiking at the weekend."},
		{"東京タワー", "昨日、東京タワーに行きました。", "昨日、友達と寿司を食べました。"},
		{"Who is Ann's boss?", "Ann works for 王芳, her manager.", "Ann swims in 杭州 on Sundays."},
	} {
		e := New()
		query := embed(t, e, llm.ForQuery, test.query)
		near := dot(query, embed(t, e, llm.ForDocument, test.near))
		far := dot(query, embed(t, e, llm.ForDocument, test.far))
		if near <= far {
			t.Errorf("%q: %q has %.3f, %q has %.3f", test.query, test.near, near, test.far, far)
		}
	}
}

// Two memories with a cosine of at least 0.95 may be merged.
func TestEmbed_SeparatesDifferentDocuments(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"我喜欢喝茶", "我不喜欢喝茶"},
		{"我住在上海。", "我住在北京。"},
		{"小明欠小红五十块钱。", "小红欠小明五十块钱。"},
		{"会议在五月三号。", "会议在五月四号。"},
		{"我对花生过敏。", "我对芒果过敏。"},
		{"是", "否"},
	} {
		e := New()
		if c := dot(embed(t, e, llm.ForDocument, pair[0]), embed(t, e, llm.ForDocument, pair[1])); c >= 0.95 {
			t.Errorf("%q and %q have cosine %.3f", pair[0], pair[1], c)
		}
	}
	same := dot(embed(t, New(), llm.ForDocument, "我喜欢喝茶"), embed(t, New(), llm.ForDocument, "我喜欢喝茶"))
	if same < 0.9999 {
		t.Errorf("a document has the cosine %.4f with itself", same)
	}
}

// The checksum requires the same bits on every processor.
func TestEmbed_IsTheSameOnEveryMachine(t *testing.T) {
	t.Parallel()
	sum := crc32.NewIEEE()
	for _, text := range []string{"我在成都一家游戏公司写引擎，主要用 C++。", "東京タワーに行きました。", strings.Repeat("很长的话，", 80)} {
		for _, use := range []llm.Use{llm.ForDocument, llm.ForQuery} {
			for _, x := range embed(t, New(), use, text) {
				if err := binary.Write(sum, binary.LittleEndian, x); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if got, want := sum.Sum32(), uint32(0xefdc5bda); got != want {
		t.Errorf("the vectors have the checksum %#x, want %#x: if they were meant to change, change Model", got, want)
	}
}

func TestEmbed_ServesGoroutinesAtTheSameTime(t *testing.T) {
	t.Parallel()
	e, texts := New(), []string{"我喜欢喝茶", "周末去爬山了，很累但是很开心。", "好"}
	want, err := e.Embed(t.Context(), llm.ForDocument, texts)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			for j := range texts {
				k := (i + j) % len(texts)
				if got := embed(t, e, llm.ForDocument, texts[k]); !slices.Equal(got, want[k]) {
					t.Errorf("%q has another vector if it is embedded with other texts", texts[k])
				}
			}
		})
	}
	wait.Wait()
}

func TestEmbed_StopsWhenItsContextIsDone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New().Embed(ctx, llm.ForQuery, []string{"茶"}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that is done: %v", err)
	}
}
