package recall

import "hippocampus/internal/lazyregexp"

var (
	// ofUser matches questions about the user.
	ofUser = lazyregexp.New(`(?i)\b(?:i|my|we|our|ich|mein\w*|wir|unser\w*)\b|[我咱俺]`)
	// toUser matches what is said to the user about the user.
	toUser = lazyregexp.New(`(?i)\b(?:you|your|du|dir|dich|dein\w*)\b|[你您]`)
)

// correction returns the place of the user's reply to the best memory, if that is what the assistant said about the
// user; 0: it is something else. The assistant may be mistaken about the user, who replies with words of the claim:
// "You use an iPhone, so ...", "I've got a Pixel, not an iPhone."
func (u *updates) correction(list []scored, rows map[string]row) (at int) {
	x, claim := u.x, list[0].relevant
	if !x.isAnswer(claim.doc) || !ofUser.MatchString(u.asks) || toUser.MatchString(u.asks) ||
		!toUser.MatchString(rows[list[0].id].whole.Content) {
		return 0
	}
	claimed := x.saidIn(claim.doc)
	for i := 1; i < min(updateReach, len(list)); i++ {
		reply := list[i].relevant
		if !x.isStatement(reply) || x.positions[reply.doc] != x.positions[claim.doc]+1 ||
			x.kind(reply.doc).ConversationID != x.kind(claim.doc).ConversationID {
			continue
		}
		for lexeme := range x.saidIn(reply.doc) {
			if claimed[lexeme] {
				return i
			}
		}
	}
	return 0
}
