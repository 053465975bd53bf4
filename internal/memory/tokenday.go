package memory

// TokenKind says what tokens of a model were used for.
type TokenKind string

// The kinds of tokens.
const (
	ChatTokens      TokenKind = "chat"      // of prompts and answers
	EmbeddingTokens TokenKind = "embedding" // of embedded texts
)

// TokenDay is what models have used for an app on a day.
type TokenDay struct {
	AppID  string
	Day    int // since 1970-01-01 in UTC, see db.DayOf
	Kind   TokenKind
	Tokens int // 0 or more
}
