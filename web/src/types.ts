export type { Flow, FlowDetail, Journey, JourneyDetail, Report, Session, Transaction } from "../../clients/node/api"
