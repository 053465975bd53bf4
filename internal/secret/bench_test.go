package secret_test

import (
	"strings"
	"testing"

	"hippocampus/internal/secret"
)

var benchmarked = map[string]string{
	"ordinary": "Hi! We moved to Lisbon last week, and I start at the harbour on Monday. The flat is small, but it " +
		"has a balcony. Could you suggest what to cook for six people? My sister is vegetarian.",
	"chinese": "我上周搬到了上海，下周一开始在港口上班。房子不大，但是有个阳台。你能推荐六个人吃什么吗？我妹妹吃素。",
	"named": "I forgot my password again and had to call support, and the PIN of my card is blocked too. " +
		"It costs 20 euros.",
	"link":     "I read https://example.com/2024/05/12/how-to-cook-a-risotto-for-six-people?lang=en and liked it.",
	"secret":   "My password is hunter2, and I pay with 4111 1111 1111 1111.",
	"pasted":   strings.Repeat("func TestCut(t *testing.T) { key := os.Getenv(\"API_KEY\"); secret.Cut(key) }\n", 500),
	"document": strings.Repeat("We moved to Lisbon last week, and I start at the harbour on Monday. ", 500),
}

func BenchmarkCut(b *testing.B) {
	for name, text := range benchmarked {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				secret.Cut(text)
			}
		})
	}
}
