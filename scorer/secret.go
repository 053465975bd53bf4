package scorer

// HoldsSecret reports whether a sentence is about a password, a key or a number that must not
// be stored.
func HoldsSecret(sentence string) bool {
	s := newSentence(sentence)
	return english.secretive.in(s) || chinese.secretive.in(s)
}
