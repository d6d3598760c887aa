// Short forms for dcgm-exporter's names in declarations; names, units and help texts: dcgm-exporter's default-counters.csv and release note 4.9.0.
import type { DcgmName, MetricDef } from '../model/metric.ts'

type When = Readonly<Record<string, string>>
const named = (kind: DcgmName['kind'], name: string, help: string, scale: number, when?: When): DcgmName => ({
  name,
  kind,
  help,
  scale,
  ...(when === undefined ? {} : { when }),
})
export const dcgmGauge = (name: string, help: string, scale = 1, when?: When): DcgmName => named('gauge', name, help, scale, when)
export const dcgmCounter = (name: string, help: string, scale = 1, when?: When): DcgmName => named('counter', name, help, scale, when)

/** A quantity that kept its unit when 4.9 renamed it. */
export const renamed = (classic: DcgmName, current: string): NonNullable<MetricDef['dcgm']> => ({
  classic: [classic],
  current: [{ ...classic, name: current }],
})
