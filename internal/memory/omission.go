package memory

// Omission says how much of a message of a turn is not remembered, and why. The log of the conversation has the whole
// message.
type Omission struct {
	Message    int            `json:"message"` // index in Turn.Messages
	Reason     OmissionReason `json:"reason"`
	Characters int            `json:"characters"`       // without white space; 1 or more
	Level      Level          `json:"level,omitempty"`  // what memory was off for; with OmittedMemoryOff alone
	Policy     int            `json:"policy,omitempty"` // version of the app's policy; with OmittedPolicy alone
	Rule       string         `json:"rule,omitempty"`   // of the policy, such as never.terms[2]; with OmittedPolicy alone
}

// OmissionReason is why a part of a message is not remembered.
type OmissionReason string

// The reasons, in the order in which the parts of a message are looked at.
const (
	OmittedMemoryOff  OmissionReason = "memory_off"  // memory was off, or was only read
	OmittedPolicy     OmissionReason = "policy"      // the app's policy never keeps it
	OmittedPerson     OmissionReason = "person"      // another participant says it, and it does not speak of the user
	OmittedRole       OmissionReason = "role"        // neither the user nor the assistant says it
	OmittedKind       OmissionReason = "kind"        // a call of a tool, or what a tool returned
	OmittedContext    OmissionReason = "context"     // recalled memories, which the client put before the user's words
	OmittedSmallTalk  OmissionReason = "small_talk"  // the message consists of greetings, thanks and fillers
	OmittedEcho       OmissionReason = "echo"        // a sentence repeats a memory that was recalled for the turn
	OmittedRemark     OmissionReason = "remark"      // a sentence of the assistant has hardly a content word
	OmittedLongAnswer OmissionReason = "long_answer" // the assistant says more than messages.answer_chars
	OmittedRefused    OmissionReason = "refused"     // the embedder refuses it, even in parts, and it has no words
)

// OmissionReasons lists every reason.
var OmissionReasons = []OmissionReason{
	OmittedMemoryOff, OmittedPolicy, OmittedPerson, OmittedRole, OmittedKind, OmittedContext, OmittedSmallTalk,
	OmittedEcho, OmittedRemark, OmittedLongAnswer, OmittedRefused,
}
