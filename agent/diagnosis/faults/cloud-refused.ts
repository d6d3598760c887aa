// What clouds say when they have no machine with a GPU to give: quotas, capacity, limits of use.
import { rowFamily, step, type Row } from './parts/rows.ts'

const ROWS: readonly Row[] = [
  {
    kind: 'gpu_unschedulable',
    pattern:
      /resource "?(\w*GPUS\w*)"?: request requires '([\d.]{1,8})'[^\n]{0,80}?quota of '([\d.]{1,8})'|Quota '(\w*GPUS\w*)' exceeded\. {1,2}Limit: ([\d.]{1,8})/,
    title: "The project's GPU quota is too small",
    verdict: ({ match }) =>
      `The cloud project may have ${Number(match[3] ?? match[5])} ${match[1] ?? match[4]}${match[2] === undefined ? '' : `, and ${Number(match[2])} were asked for`}. Nothing was created.`,
    remedies: [
      step(
        'Ask for a higher quota in that region, or take a region or type for which there is one.',
        'gcloud compute regions describe <REGION> | grep -B1 -A1 GPUS',
      ),
    ],
  },
  {
    kind: 'gpu_unschedulable',
    pattern:
      /VcpuLimitExceeded[^\n]{0,160}?limit of (\d{1,6})|(ZONE_RESOURCE_POOL_EXHAUSTED|InsufficientInstanceCapacity|SkuNotAvailable|OverconstrainedAllocationRequest|GCE_STOCKOUT)/,
    title: 'The cloud has no such machine to give',
    verdict: ({ match }) =>
      match[1] === undefined
        ? 'The provider has no free machine of that type in that zone now. This is no fault of the request.'
        : `The account may use ${match[1]} vCPUs of this family of instances: its limit, not the capacity of the cloud.`,
    remedies: ({ match, situation }) => [
      match[1] === undefined
        ? step('Try another zone, region or type of machine, or later; for sure capacity reserve it.')
        : step(
            'Ask for a higher limit in Service Quotas (Running On-Demand P or G instances).',
            'aws service-quotas list-service-quotas --service-code ec2 --query "Quotas[?contains(QuotaName, \'On-Demand\')].[QuotaName,Value]" --output table',
          ),
      /autoscal|eksctl|karpenter|node ?group/i.test(situation().text) && step('Let the group use several zones and types.'),
    ],
  },
  {
    kind: 'gpu_unschedulable',
    pattern: /You cannot currently connect to a GPU due to usage limits in Colab/,
    title: 'Colab gives no GPU now',
    verdict: 'The usage limit of Colab for this account is reached: it depends on use in the last days and is not published.',
    remedies: [step('Wait (often up to a day), pay for compute units, or work without a GPU for now.'), step('End sessions that are not used: they count.')],
  },
]

export const cloudRefused = rowFamily(
  'cloud-refused',
  [
    ': request requires ',
    'GPUS_ALL_REGIONS',
    "_GPUS' exceeded",
    'VcpuLimitExceeded',
    'ZONE_RESOURCE_POOL_EXHAUSTED',
    'InsufficientInstanceCapacity',
    'SkuNotAvailable',
    'OverconstrainedAllocationRequest',
    'GCE_STOCKOUT',
    'cannot currently connect to a GPU',
  ],
  ROWS,
)
