package scorer

import (
	"strings"

	"hippocampus/internal/lazyregexp"
)

var (
	// command matches the beginning of a request to remember something.
	command = expression(`^(?:(?:please|and|so|also|ok(?:ay)?|hey),? )*(?:` +
		`(?:remember|note|don't forget)(?: that|:|,)? (?:i|i'm|i've|my|we|our|the|to)\b|` +
		`remember(?: that\b|:)|note that\b|keep in mind\b|make a note\b)|` +
		`(?:^|[，,。 ])(?:请|麻烦)?(?:你)?(?:一定要?|务必|要|帮我)?(?:记住|记得|记一下|记下来?|别忘了?|不要忘记)`)

	question = expression(`[?？]["'”」)]*$|[吗呢]$`)

	// questionTail is a question that follows a statement after a comma.
	questionTail = expression(`, (?:what|how|and you|do you|can|could|would|should|is|are|right|isn't|don't|any|` +
		`where|which|who|when|why|you)\b[^,]*\?["')]*$|` +
		`[，,。 ](?:你|那|请问|有|能|可以|是|怎么|什么|哪|该|对|多少|为什么|应该|会|要|吃|去)[^，,。]*(?:[?？]["”」]*|[吗呢])$`)
)

// expression compiles an expression that ignores case. Its apostrophes are plain, as in the texts that it is matched
// with.
func expression(s string) *lazyregexp.Regexp { return lazyregexp.New("(?i)" + s) }

var apostrophes = strings.NewReplacer("’", "'", "‘", "'", "`", "'")
