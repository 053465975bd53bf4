export const en = {
  list: "Fields of the app's schema",
  none: "The app has no schema of profiles: an admin stores one with PUT /v1/profile-schema.",
  field: "Field",
  value: "Value",
  unknown: "not known",
  confidence: "Confidence",
  day: "Said",
  by: { rules: "by rules", model: "by the model" },
  sources: "Read from",
  states: {
    complete: "The values are read from what is known now.",
    no_model: "No chat model is configured: only fields that rules know are filled.",
    not_asked: "Statements or the schema have changed since the chat model read them.",
    model_unavailable: "The chat model did not answer. The values are those that were read before.",
  },
  ask: "Ask the model",
  askWhat: "It uses tokens and takes up to 30 seconds.",
};

export type Texts = typeof en;
