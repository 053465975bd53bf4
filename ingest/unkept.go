package ingest

import (
	"strings"

	"hippocampus/internal/memory"
)

// The beginnings of the reasons of candidates that become no memory of their own.
const (
	becauseImportance = "importance "
	becauseSecret     = "a secret was cut out of it"
	becauseVoice      = "said by another voice"
	becauseEcho       = "repeats a memory that recall had just handed out"
	becauseUnsaid     = "not said"
	becauseRefused    = "the embedder refuses it"
	becauseUnusable   = "it "
)

// UnkeptPart is a way in which a part of a message becomes no memory, as `left_out` of its turn names it.
type UnkeptPart struct {
	Reason    memory.OmissionReason
	What, Why string // Markdown
}

// UnkeptParts lists every reason of `left_out`, in the order in which the parts of a message are looked at.
var UnkeptParts = []UnkeptPart{
	{memory.OmittedRole, "a message of neither the user nor the assistant", "it says nothing of the user"},
	{memory.OmittedKind, "a call of a tool, or its result", "as above"},
	{
		memory.OmittedContext,
		"recalled memories that the client put before the user's words, by the headings of a context", "they were not said",
	},
	{
		memory.OmittedSmallTalk,
		`a message of greetings, thanks and fillers alone, unless the user answers a question with it ("Yes.")`,
		"it says nothing",
	},
	{
		memory.OmittedEcho,
		"a sentence of an answer, or a line before the user's words, that repeats what was recalled for the turn",
		"it was not said",
	},
	{
		memory.OmittedRemark,
		"a sentence of an answer with fewer than three content words, if the user only stated something",
		`"Boa sorte!" answers nothing`,
	},
	{
		memory.OmittedLongAnswer,
		"an answer after `messages.answer_chars`, except items of lists; nothing by default", "the operator's wish",
	},
	{
		memory.OmittedRefused,
		"a message without words, such as 🐝, that the embedder refuses, also in parts", "nothing would find it",
	},
}

// UnkeptFact is a way in which a candidate becomes no memory of its own.
type UnkeptFact struct {
	Verdict   memory.Verdict
	Because   string // how the reason begins; empty: any other reason
	What, Why string // Markdown
}

// UnkeptFacts lists every verdict but `kept`, with the reasons that it may have.
var UnkeptFacts = []UnkeptFact{
	{
		Verdict: memory.BelowThreshold, Because: becauseVoice,
		What: "words that are not the user's own: a quote, a mail, a chat, code, a document",
		Why:  "facts are what the user says; the message has them",
	},
	{
		Verdict: memory.BelowThreshold, Because: becauseSecret,
		What: "a sentence that a secret was cut out of, without a model",
		Why:  "what was worth to be known is not there any more",
	},
	{
		Verdict: memory.BelowThreshold, Because: becauseImportance,
		What: "a fact under `gate.threshold`",
		Why:  "it matters too little; it can be promoted",
	},
	{
		Verdict: memory.Echo, Because: becauseEcho,
		What: "a fact that repeats what was recalled for the turn",
		Why:  "the user did not say it",
	},
	{
		Verdict: memory.Duplicate, Because: "",
		What: "a fact that an active memory states already",
		Why:  "a statement lives once",
	},
	{
		Verdict: memory.Merged, Because: "",
		What: "a fact that became one with a similar memory",
		Why:  "as above",
	},
	{
		Verdict: memory.InvalidAnswer, Because: becauseUnsaid,
		What: "a fact of a model that the user has not said",
		Why:  "see [below](#what-the-user-has-not-said)",
	},
	{
		Verdict: memory.InvalidAnswer, Because: becauseRefused,
		What: "a fact without words that the embedder refuses, also in parts",
		Why:  "nothing would find it",
	},
	{
		Verdict: memory.InvalidAnswer, Because: becauseUnusable,
		What: "one fact of an answer that cannot be used, such as an empty one",
		Why:  "its other facts are used",
	},
	{
		Verdict: memory.InvalidAnswer, Because: "",
		What: "an answer of a model that cannot be used, as a whole",
		Why:  "the turn can be replayed; rules take its facts until then",
	},
}

// WhyUnkept returns the way in which a candidate became no memory of its own; ok is false for kept ones.
func WhyUnkept(c memory.Candidate) (why UnkeptFact, ok bool) {
	for _, u := range UnkeptFacts {
		if u.Verdict == c.Verdict && strings.HasPrefix(c.Reason, u.Because) {
			return u, true
		}
	}
	return why, false
}
