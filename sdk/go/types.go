package hippocampus

import "hippocampus/sdk/go/api"

// The types of requests and answers, as openapi.yaml describes them. Package api
// has the others, and the values of enumerations such as api.MemoryTypeFact.
type (
	Candidate                = api.Candidate
	ChangedMemory            = api.ChangedMemory
	CloneReceipt             = api.CloneReceipt
	CloneRequest             = api.CloneRequest
	CompressRequest          = api.CompressRequest
	CompressionReport        = api.CompressionReport
	ConsolidateRequest       = api.ConsolidateRequest
	ContextAnswer            = api.ContextAnswer
	ContextRequest           = api.ContextRequest
	Conversation             = api.Conversation
	ConversationRequest      = api.ConversationRequest
	ConversationSettings     = api.ConversationSettings
	DeleteConversationParams = api.DeleteConversationParams
	DeletedConversation      = api.DeletedConversation
	EndConversationRequest   = api.EndConversationRequest
	EndFactParams            = api.EndFactParams
	EndedConversation        = api.EndedConversation
	ErasureReceipt           = api.ErasureReceipt
	MergeReceipt             = api.MergeReceipt
	MergeRequest             = api.MergeRequest
	RenameRequest            = api.RenameRequest
	EventKind                = api.EventKind
	ExportLine               = api.ExportLine
	ExportMemoriesParams     = api.ExportMemoriesParams
	Fact                     = api.Fact
	FactOutcome              = api.FactOutcome
	FactRequest              = api.FactRequest
	FieldError               = api.FieldError
	ForgetMemoriesAnswer     = api.ForgetMemoriesAnswer
	ForgetMemoriesRequest    = api.ForgetMemoriesRequest
	ForgetMemoryParams       = api.ForgetMemoryParams
	ForgetRequest            = api.ForgetRequest
	ForgettingReport         = api.ForgettingReport
	GetConversationParams    = api.GetConversationParams
	GetMemoryParams          = api.GetMemoryParams
	GetProfileParams         = api.GetProfileParams
	GetStatsParams           = api.GetStatsParams
	ImportReport             = api.ImportReport
	ListCandidatesParams     = api.ListCandidatesParams
	ListConversationsParams  = api.ListConversationsParams
	ListFactHistoryParams    = api.ListFactHistoryParams
	ListFactsParams          = api.ListFactsParams
	ListMemoriesParams       = api.ListMemoriesParams
	ListTurnsParams          = api.ListTurnsParams
	Memory                   = api.Memory
	MemoryBatchResult        = api.MemoryBatchResult
	MemoryEvent              = api.MemoryEvent
	MemoryPatch              = api.MemoryPatch
	MemoryRequest            = api.MemoryRequest
	Message                  = api.Message
	Profile                  = api.Profile
	PromoteRequest           = api.PromoteRequest
	Promotion                = api.Promotion
	Readiness                = api.Readiness
	RecallAnswer             = api.RecallAnswer
	RecallRequest            = api.RecallRequest
	RecalledMemory           = api.RecalledMemory
	ReflectRequest           = api.ReflectRequest
	ReflectionReport         = api.ReflectionReport
	RestoreMemoriesAnswer    = api.RestoreMemoriesAnswer
	RestoreMemoriesRequest   = api.RestoreMemoriesRequest
	RestoreMemoryParams      = api.RestoreMemoryParams
	Stats                    = api.Stats
	StreamEventsParams       = api.StreamEventsParams
	Turn                     = api.Turn
	TurnRequest              = api.TurnRequest
	UndoReport               = api.UndoReport
	UpdateConversationParams = api.UpdateConversationParams
	UserHoldings             = api.UserHoldings
	UserRequest              = api.UserRequest
	UserSettings             = api.UserSettings
	UserSummary              = api.UserSummary
	WithdrawnTurn            = api.WithdrawnTurn
	WrittenMemory            = api.WrittenMemory
)

// UserMessage returns a text of the user.
func UserMessage(text string) Message { return TextMessage(api.MessageRoleUser, text) }

// AssistantMessage returns a text of the assistant.
func AssistantMessage(text string) Message { return TextMessage(api.MessageRoleAssistant, text) }

// TextMessage returns a text of a role. Messages of several parts, with calls of
// tools and the like have the other fields of [Message].
func TextMessage(role api.MessageRole, text string) Message {
	content := new(api.MessageContent)
	if err := content.FromMessageText(text); err != nil {
		panic(err) // json.Marshal encodes every string
	}
	return Message{Role: role, Content: content}
}
