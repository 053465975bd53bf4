package ingest

// The beginnings of the reasons of candidates that become no memory of their own. docs/flows/write.md lists what
// becomes no memory, with these and the reasons of memory.OmissionReasons.
const (
	becauseVoice      = "said by another voice"
	becauseSecret     = "a secret was cut out of it"
	becauseImportance = "importance "
	becauseEcho       = "repeats a memory that recall had just handed out"
	becauseUnsaid     = "not said"
	becauseRefused    = "the embedder refuses it"
	becauseUnusable   = "it "
)
