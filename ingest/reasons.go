package ingest

import "hippocampus/internal/memory"

// The reasons of candidates that become no memory of their own begin with these texts. docs/flows/write.md lists them,
// with the reasons of memory.OmissionReasons.
const (
	becausePolicy     = "policy"
	becauseVoice      = "said by another voice"
	becauseSecret     = "a secret was cut out of it"
	becauseImportance = memory.ForImportance
	becauseEcho       = "repeats a memory that recall had just handed out"
	becauseUnsaid     = "not said"
	becauseRefused    = "the embedder refuses it"
	becauseUnusable   = "it "
)
