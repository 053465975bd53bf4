package scorer

import (
	"regexp"
	"strings"
)

// HoldsSecret reports whether a sentence is about a password, a key or a number that must not be stored.
func HoldsSecret(sentence string) bool { return secret.MatchString(sentence) }

var (
	secret = expression(`\b(?:pass(?:word|code|phrase)s?|pin(?: code)?|(?:api|secret|private|access|license)[ -]key|` +
		`(?:api|secret|access) token|(?:seed|recovery) phrase|cv[vc]|iban|` +
		`(?:credit card|card|account|passport|social security|routing|licen[cs]e|id card) number|` +
		`(?:door|gate|alarm|one-time|verification) code|(?:code|combination) (?:for|to|of) (?:my|our|the))\b|` +
		`密码|口令|密钥|私钥|令牌|助记词|安全码|验证码|(?:卡|账|身份证|护照|驾照|社保)号`)

	// command begins what the user asks to be remembered.
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

// expression compiles an expression that ignores case and writes the plain apostrophe.
func expression(s string) *regexp.Regexp { return regexp.MustCompile("(?i)" + s) }

var apostrophes = strings.NewReplacer("’", "'", "‘", "'", "`", "'")
