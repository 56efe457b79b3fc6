import { Translate } from '../react/translate.jsx';

export default function Page() {
  return <Translate initial="Good morning! The house costs 42 euros." />;
}
