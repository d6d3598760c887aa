// Advice for what services outside refuse: object stores, trackers of runs, model APIs. Messages written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

test.each([
  [
    'S3, by the call and what it needs',
    'botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the PutObject operation: Access Denied\n',
    'permission_denied',
    /^(?![^]*ls -ld)[^]*AWS refuses PutObject[^]*get-caller-identity[^]*Allow it s3:PutObject/,
  ],
  [
    'S3, where an object may not be there',
    'botocore.exceptions.ClientError: An error occurred (403) when calling the HeadObject operation: Forbidden\n',
    'permission_denied',
    /also answers so for an object that is not there/,
  ],
  [
    'another call of AWS, which is none of a bucket',
    'botocore.exceptions.ClientError: An error occurred (AccessDenied) when calling the AssumeRole operation: not allowed\n',
    'permission_denied',
    /^(?![^]*s3:)[^]*AWS refuses AssumeRole[^]*Allow it AssumeRole/,
  ],
  ['AWS without credentials', 'botocore.exceptions.NoCredentialsError: Unable to locate credentials\n', 'python_exception', /--no-sign-request/],
  [
    'AWS without credentials in a container',
    'docker run --rm trainer:1\nbotocore.exceptions.NoCredentialsError: Unable to locate credentials\n',
    'python_exception',
    /A container does not see those of the host/,
  ],
  [
    'a bucket of Google, by account, permission and name',
    'google.api_core.exceptions.Forbidden: 403 POST https://storage.googleapis.com/upload/storage/v1/b/runs-7/o: job@team.iam.gserviceaccount.com does not have storage.objects.create access to the Google Cloud Storage object.\n',
    'permission_denied',
    /gs:\/\/runs-7 --member=serviceAccount:job@team\.iam\.gserviceaccount\.com --role=roles\/storage\.objectUser/,
  ],
  [
    'a key that Weights & Biases refuses',
    'wandb.errors.errors.AuthenticationError: The API key you provided is either invalid or missing. (Error 401: Unauthorized)\nIf the `WANDB_API_KEY` environment variable is set, make sure it is correct.\n',
    'config_error',
    /^(?![^]*configuration: )[^]*refuses the API key[^]*wandb login --relogin/,
  ],
  [
    'an upload that Weights & Biases refuses',
    'wandb.errors.CommError: Error uploading run: returned error 403: {"errors":[{"message":"permission denied"}]}\n',
    'permission_denied',
    /^(?![^]*a file that it needs)[^]*refuses the upload[^]*entity and project/,
  ],
  [
    'a key that a model API refuses',
    "openai.AuthenticationError: Error code: 401 - {'error': {'message': 'Incorrect API key provided: sk-x***.', 'type': 'invalid_request_error'}}\n",
    'config_error',
    /^(?![^]*configuration: )[^]*The service refuses the API key/,
  ],
  [
    'a server of files, by its name and status',
    'requests.exceptions.HTTPError: 403 Client Error: Forbidden for url: https://files.example/m/a.tar\n',
    'python_exception',
    /^(?![^]*pdb)[^]*files\.example refuses access \(403\)[^]*curl -sSI https:\/\/files\.example\/m\/a\.tar/,
  ],
  [
    'a tracker whose status is no name of a file',
    'mlflow.exceptions.RestException: PERMISSION_DENIED: Permission denied. User is not authorized to access experiment 12\n',
    'permission_denied',
    /^(?![^]*namei)[^]*belongs to the project/,
  ],
  [
    'a data set that the hub does not show',
    "datasets.exceptions.DatasetNotFoundError: Dataset 'team/talks' doesn't exist on the Hub or cannot be accessed.\n",
    'model_access',
    /^(?![^]*terms)[^]*shows no data set team\/talks[^]*dataset_info\('team\/talks'\)/,
  ],
  [
    'large files of a repository',
    "error: external filter 'git-lfs filter-process' failed\nfatal: weights.bin: smudge filter lfs failed\n",
    'job_failed',
    /Git LFS could not fetch a large file[^]*GIT_LFS_SKIP_SMUDGE=1/,
  ],
  [
    'a database, by its address and port',
    'psycopg2.OperationalError: connection to server at "10.0.0.5", port 5432 failed: Connection timed out\n',
    'network_error',
    /^(?![^]*(?:curl|<HOST>))[^]*nc -zv 10\.0\.0\.5 5432/,
  ],
  [
    'a queue on the container itself',
    'redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.\n',
    'network_error',
    /nc -zv localhost 6379[^]*the container itself/,
  ],
] as const)('%s', (_, text, kind, expected) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(expected)
})
